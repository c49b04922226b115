"""An answer holds a value of the kind that is asked for, or the files don't tell."""

import pytest

from ragcli.generation.answer import answer
from ragcli.generation.expected import holds_what_is_asked, tells_what_is_asked


@pytest.mark.parametrize(
    ("question", "said", "holds"),
    [
        ("换一次多少钱", "更换须由售后人员进行。", False),
        ("换一次多少钱", "更换收 80 元。", True),
        ("上门收费吗", "上门检测免费。", True),
        ("为什么两个不一样", "A 的压力是 0.1 MPa，B 的压力是 0.2 MPa。", False),
        ("为什么停机", "停机原因是电机过热。", True),
        ("电话多少", "请联系服务台。", False),
        ("几点开门", "每天 9:00 开门。", True),
        ("要等多久", "等指示灯变绿。", False),
        ("要等多久", "等十分钟。", True),
        ("怎么清洗", "用软布擦。", True),
        ("How much is it?", "It weighs a lot.", False),
        ("How much is it?", "It costs $40.", True),
        ("Why does it beep?", "It beeps because the tank is full.", True),
    ],
)
def test_a_value_of_the_kind_that_is_asked_for(question, said, holds):
    assert holds_what_is_asked(question, said, "en" if question.isascii() else "zh") is holds


def test_an_answer_beside_the_question_is_a_refusal_and_is_never_shown(scripted, make_passage):
    shown: list[str] = []
    model = scripted("更换电池须由售后人员进行 [1]。")
    passages = [make_passage(1, "更换电池须由售后人员进行，不可自行拆开。")]
    result = answer("云杉换电池多少钱", passages, model=model, on_text=shown.append)
    assert result.action == "not_found"
    assert "售后" not in "".join(shown)
    assert len(model.prompts) == 1


def test_a_price_in_a_column_of_its_own_is_a_price():
    for said in ("单馆年卡价格（元）: 1980", "扫描电镜的校内价为 280", "押金: 200"):
        assert holds_what_is_asked("多少钱", said, "zh")
    assert not holds_what_is_asked("多少钱", "型号为 280", "zh")


def test_a_sentence_tells_a_duration_by_its_unit_and_a_price_by_its_money():
    assert tells_what_is_asked("多久洗一次", "每 250 小时清洗一次。", "zh")
    assert not tells_what_is_asked("多久洗一次", "滤网 39 元", "zh")
    assert tells_what_is_asked("滤网多少钱", "滤网 | 价格: 39 元", "zh")
    assert tells_what_is_asked("How long does it take?", "It takes 4 minutes.", "en")
    assert not tells_what_is_asked("How long does it take?", "It has 4 ports.", "en")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("用到什么时候", "月包用到当月月底。"),
        ("什么时候放假", "国庆节。"),
        ("能用多久", "用到当季季底为止。"),
        ("几号关", "每周一关。"),
    ],
)
def test_a_time_needs_no_digit(question, said):
    assert holds_what_is_asked(question, said, "zh")
