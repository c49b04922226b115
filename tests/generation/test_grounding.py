import pytest

from ragcli.generation.grounding import foreign_values, numbers, support, written_numbers


def test_numbers_have_one_spelling():
    assert numbers("0.10 与 0.1，1,200 与 １２００，007") == {"0.1", "1200", "7"}
    assert numbers("1. 断电\n2. 拆壳 3 次") == {"3"}


@pytest.mark.parametrize(
    ("text", "value"), [("六个月", "6"), ("十二天", "12"), ("两百零五元", "205"), ("三万二千", "32000")]
)
def test_chinese_numerals_count_as_written(text, value):
    assert value in written_numbers(text)


def test_a_number_that_stands_nowhere_is_named(make_passage):
    found = support("保修 5 年。", [1], [make_passage(1, "整机保修 2 年。")], "保修几年")
    assert found.missing == ("5",)


def test_the_right_passage_is_found_for_a_wrong_or_missing_mark(make_passage):
    shown = [make_passage(1, "滤网每 3 个月更换。"), make_passage(2, "水箱每 7 天清洗。")]
    assert support("水箱每 7 天清洗。", [1], shown, "多久洗").cited == (2,)
    assert support("水箱每 7 天清洗。", [], shown, "多久洗").cited == (2,)


def test_two_passages_together_hold_a_comparison(make_passage):
    shown = [
        make_passage(1, "甲型 12 公斤。"),
        make_passage(2, "乙型 15 公斤。"),
        make_passage(3, "丙型蓝色。"),
    ]
    assert set(support("甲型 12 公斤，乙型 15 公斤。", [], shown, "哪个重").cited) == {1, 2}


def test_numbers_of_the_question_may_be_repeated(make_passage):
    assert (
        support("300 型用铜管。", [1], [make_passage(1, "本型用铜管接水。")], "300 型用什么管").missing == ()
    )


def test_sums_only_where_they_are_asked_for(make_passage):
    shown = [make_passage(1, "门票 30 元，讲解 45 元。")]
    assert support("一共 75 元。", [1], shown, "一共多少").missing == ("75",)
    assert support("一共 75 元。", [1], shown, "一共多少", computed=True).missing == ()


def test_an_echo_of_what_no_passage_tells_is_not_supported(make_passage):
    shown = [make_passage(1, "阅览室周一闭馆，馆际互借须先登记。")]
    assert support("馆际互借的图书不可以邮寄到家里。", [1], shown, "馆际互借的图书可以邮寄到家里吗").weak
    assert not support("馆际互借须先登记。", [1], shown, "馆际互借怎么办").weak


def test_another_language_is_left_to_the_model(make_passage):
    found = support(
        "The reading room is closed on Mondays.", [1], [make_passage(1, "阅览室周一闭馆。")], "When?"
    )
    assert (found.cited, found.weak) == ((1,), False)


def test_values_that_a_question_makes_up(make_passage):
    shown = [make_passage(1, "停车每小时 6 元。")]
    assert foreign_values("停车每小时 4 元吧", shown) == ["4 元吧"]
    assert foreign_values("停车每小时 6 元吧", shown) == []


def test_a_siblings_passage_supports_nothing(make_passage):
    shown = [
        make_passage(1, "支持手机控制。", "风扇AB-500手册.txt"),
        make_passage(2, "滤网每 3 个月更换。", "风扇AB-300手册.txt"),
    ]
    assert support("AB-300 支持手机控制。", [1], shown, "哪个型号支持手机控制").weak
    assert support("AB-500 支持手机控制。", [1], shown, "哪个型号支持手机控制").cited == (1,)
    assert support("AB-500 的滤网每 3 个月更换。", [2], shown, "AB-500 的滤网呢").missing == ("3",)


def test_a_comparison_may_name_both(make_passage):
    shown = [make_passage(1, "压力 4 巴。", "AB-500.txt"), make_passage(2, "压力 3 巴。", "AB-300.txt")]
    assert set(support("AB-300 为 3 巴，AB-500 为 4 巴。", [], shown, "比较压力").cited) == {1, 2}


def test_a_passage_without_names_may_be_about_any(make_passage):
    assert support(
        "AB-300 可以水洗。", [1], [make_passage(1, "机身可以水洗，晾干再装。")], "AB-300 能水洗吗"
    ).cited == (1,)
