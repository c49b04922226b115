"""What a question is read as in its conversation: gate, rules, model, mends."""

import pytest

from ragcli.datatypes import Completion, Term, Vocabulary
from ragcli.dialogue.events import apply
from ragcli.dialogue.lexicon import build_lexicon
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.reading import RewriteOptions
from ragcli.dialogue.state import empty_state
from tests.dialogue.conversation import LEXICON, converse, fold, hit, read


class Writer:
    """A model that writes these texts, one a call, and the last one from then on."""

    context_tokens = 4096

    def __init__(self, *texts):
        self.texts, self.calls = texts, 0

    def count_tokens(self, text):
        return len(text)

    def complete(self, messages, **limits):
        self.calls += 1
        assert limits["grammar"]
        return Completion(self.texts[min(self.calls, len(self.texts)) - 1], "stop", 10, 7, 5, 0.1, 0.2)


COMPLETE = (
    "支架和底座的缝隙超过三毫米怎么调？",
    "E05和E15报警有什么不同？",
    "请把第二章的步骤列出来",
    "《夜船》里的大副叫什么？",
    "2022年9月的水费是多少",
    "怎样关闭静音模式？",
    "“它”字牌螺钉在几号柜？",
    "What is the warranty of the QF-20?",
)


@pytest.mark.parametrize("query", COMPLETE)
def test_rew2_a_complete_question_goes_through_as_it_was_said(query):
    _, readings = converse("QF-20 的水箱多大？", "它多久洗一次？", query)
    assert readings[-1].queries == (query,)
    assert readings[-1].status == "none"


@pytest.mark.parametrize("query", COMPLETE)
def test_rew2_no_model_is_called_for_a_complete_question(query):
    state, _ = converse("QF-20 的水箱多大？")
    model = Writer("{}")
    read(state, query, "hybrid", model)
    assert model.calls == 0


def test_rew1_a_pronoun_a_sibling_and_a_comparison_name_what_they_mean():
    _, readings = converse("QF-20 的水箱多大？", "它的清洗周期呢？", "那 50 呢？", "这两个哪个更安静？")
    pronoun, sibling, both = (" ".join(reading.queries) for reading in readings[1:])
    assert "QF-20" in pronoun
    assert "清洗周期" in pronoun
    assert "它" not in pronoun
    assert "QF-50" in sibling
    assert "清洗周期" in sibling
    assert "QF-20" not in sibling
    assert "QF-20" in both
    assert "QF-50" in both
    assert "安静" in both


@pytest.mark.parametrize(
    ("turns", "wanted", "unwanted"),
    [
        (("QF-20 的功率是多少", "为什么"), ("QF-20", "功率", "为什么"), ()),
        (("QF-20 跟 QF-50 哪个省电", "前者噪音多大"), ("QF-20", "噪音"), ("QF-50",)),
        (("QF-20 跟 QF-50 哪个省电", "后者噪音多大"), ("QF-50", "噪音"), ("QF-20",)),
        (("QF-20 的功率是多少", "不是，我说的是 QF-50"), ("QF-50", "功率"), ("QF-20",)),
        (("城北店周六几点开门", "周日呢"), ("城北店", "周日"), ("周六",)),
        (("城北店 5 月客流多少", "6 月呢"), ("城北店", "6 月"), ("5 月",)),
        (("城北店二季度客流多少", "比上个季度多多少"), ("城北店", "一季度"), ()),
        (("木棉画廊几点关门", "青石剧场在哪儿", "回到木棉画廊，门票多少"), ("木棉画廊", "门票"), ("青石",)),
        (("How long is the warranty of the QF-20?", "And the QF-50?"), ("QF-50", "warranty"), ("QF-20",)),
    ],
)
def test_a_dependent_question_is_made_whole(turns, wanted, unwanted):
    _, readings = converse(*turns)
    text = " ".join(readings[-1].queries).replace(" ", "")
    assert readings[-1].status == "rules"
    assert [word for word in wanted if word.replace(" ", "") not in text] == []
    assert [word for word in unwanted if word.replace(" ", "") in text] == []


def test_what_an_answer_recommends_is_what_the_next_pronoun_means():
    _, readings = converse(("木棉画廊附近还有什么好玩的", "附近的青石剧场值得一去。"), "它那里需要门票吗")
    assert "青石剧场" in readings[-1].standalone


def test_a_value_in_an_answer_does_not_take_over():
    _, readings = converse(("木棉画廊几点关门", "六点，和青石剧场一样。"), "它门票多少钱")
    assert "木棉画廊" in readings[-1].standalone


@pytest.mark.parametrize(
    ("query", "kind"), [("谢谢", "smalltalk"), ("你好", "smalltalk"), ("有哪些文件", "about_base")]
)
def test_small_talk_wants_no_search(query, kind):
    reading = read(empty_state(), query)
    assert reading.smalltalk
    assert reading.verdict.kind == kind


def test_small_talk_leaves_what_is_talked_about():
    _, readings = converse("QF-20 的功率是多少", "谢谢", "它多重")
    assert "QF-20" in readings[-1].standalone


def test_off_searches_the_question_as_it_stands():
    state, _ = converse("QF-20 的功率是多少")
    reading = read(state, "它多重", "off")
    assert (reading.queries, reading.status) == (("它多重",), "off")


def test_a_homophone_slip_is_mended_and_shown():
    reading = read(empty_state(), "滤心多久换")
    assert reading.query == "滤心多久换"
    assert reading.queries == ("滤芯多久换",)
    assert "滤心 → 滤芯" in reading.reason


def test_a_denial_rejects_the_passages_and_is_a_correction():
    state, _ = converse("QF-20 的功率是多少")
    reading = read(state, "不是那个意思")
    assert reading.reason == "correction"
    assert reading.queries == ("QF-20 的功率是多少",)


def test_rew6_the_model_is_called_once_in_llm_mode_and_its_text_is_searched_first():
    state, _ = converse("QF-50 的水箱多大？")
    model = Writer('{"query": "QF-50 的噪音是多少"}')
    reading = read(state, "那它的噪音呢？", "llm", model)
    assert model.calls == 1
    assert reading.status == "llm"
    assert reading.queries[0] == "QF-50 的噪音是多少"
    assert reading.rewriter_tokens == 7


@pytest.mark.parametrize(
    "raw", ["", "抱歉，我无法回答这个问题。", '{"query": "QF-99 的噪音是多少"}', "<think>没有写完"]
)
def test_rew5_what_fails_the_checks_falls_back_on_the_rules(raw):
    state, _ = converse("QF-50 的水箱多大？")
    reading = read(state, "那它的噪音呢？", "llm", Writer(raw))
    assert reading.status == "failed"
    assert "QF-50" in reading.standalone
    assert "噪音" in reading.standalone
    assert "QF-99" not in " ".join(reading.queries)


def test_an_empty_vocabulary_still_resolves_model_numbers():
    lexicon = build_lexicon(Vocabulary(), fold)
    state = empty_state()
    reading = read(state, "月鹿C7的水箱多大？", lexicon=lexicon)
    state = apply(state, turn_done(state, reading, lexicon, action="answer"))
    assert "C7" in read(state, "它多久清洗一次？", lexicon=lexicon).standalone


def test_one_pronoun_for_two_siblings_asks_which():
    state, _ = converse("QF-20 跟 QF-50 哪个省电")
    reading = read(state, "它多重")
    assert reading.clarify is not None
    assert [choice.label for choice in reading.clarify.choices] == ["QF-20", "QF-50"]


def test_the_answering_model_reads_the_rewrite_of_the_model_where_one_was_taken():
    state, _ = converse("QF-20 的水箱多大？")
    reading = read(state, "它多久洗一次", "llm", Writer('{"query": "QF-20 的水箱多久清洗一次？"}'))
    assert reading.status == "llm"
    assert reading.question == "QF-20 的水箱多久清洗一次？"


def test_a_second_pointing_word_means_what_was_asked_about_last():
    _, readings = converse(
        "木棉画廊的会员证怎么办理？", "外地馆代借多少钱，几天到", "那种会员证也能申请这个吗"
    )
    assert "代借" in readings[-1].standalone
    assert "这个" not in readings[-1].standalone


def test_what_a_topic_goes_to_is_exchanged_and_the_rest_stays():
    base = build_lexicon(Vocabulary((Term("巡展日程", "heading", (), ("tour.txt",)),)), fold)
    state = empty_state()
    reading = read(state, "去绵州巡展一天多少钱", lexicon=base)
    assert [entity.name for entity in reading.entities] == ["去绵州巡展"]
    state = apply(state, turn_done(state, reading, base, action="answer"))
    assert read(state, "郴州呢", lexicon=base).standalone == "去郴州巡展一天多少钱"


@pytest.mark.parametrize(
    "query", ["出厂设的那级，间隔多少", "上回说的那一步怎么做", "放了三天的那瓶还能用吗"]
)
def test_one_of_several_that_were_talked_about_points_back(query):
    _, readings = converse("QF-20 的水硬度设几级？", query)
    assert not readings[-1].verdict.complete
    assert not readings[-1].verdict.doubtful
    assert "水硬度" in " ".join(readings[-1].queries)


@pytest.mark.parametrize(
    "query",
    [
        "OK, and what can I do to make my tent waterproof?",
        "why were the first three symphonies forgotten?",
        "That’s not what I meant. I’d like to know about the gardens of Kyoto.",
        "But I’ve heard that sailors in Brest drink cider with dinner. Is that true?",
    ],
)
def test_an_english_question_that_says_itself_goes_through_whatever_it_begins_with(query):
    _, readings = converse(("Who was Ada Holt?", "Ada Holt was a painter."), query)
    assert readings[-1].queries == (query,)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("Is the first cheaper?", "dependent"),
        ("And the lens?", "dependent"),
        ("That's not what I meant.", "denial"),
        ("That's wrong, I meant the lens", "correction"),
    ],
)
def test_an_english_question_that_leans_on_the_last_is_seen_to(query, kind):
    _, readings = converse(("Who was Ada Holt?", "Ada Holt was a painter."), query)
    assert readings[-1].verdict.kind == kind


@pytest.mark.parametrize(("verdict", "status"), [("是", "llm"), ("否", "failed"), ("也许", "failed")])
def test_a_second_look_may_take_the_models_rewrite_back(verdict, status):
    state, _ = converse("QF-20 的水箱多大？")
    rewrite = "QF-20 的水箱多久清洗一次？"
    writer = Writer('{"query": "' + rewrite + '"}', verdict)
    reading = read(state, "它多久洗一次", "llm", writer, options=RewriteOptions(verify=True))
    assert reading.status == status
    assert writer.calls == 2
    assert reading.rewriter_tokens == 14
    assert (rewrite in reading.queries) is (status == "llm")


PEOPLE = build_lexicon(
    Vocabulary(
        (
            Term("海上明月夜（2011年电影）", "name", (), ("film.txt",)),
            Term("秦岳", "name", (), ("qin.txt",)),
            Term("南浦艺术馆", "name", (), ("hall.txt",)),
        )
    ),
    fold,
)


@pytest.mark.parametrize(
    ("second", "person"), [("南浦艺术馆在哪？", "秦岳"), ("海上明月夜什么时候上映的？", "秦岳")]
)
def test_he_means_somebody_and_never_a_work_or_a_place(second, person):
    state = empty_state()
    for query in ("秦岳是谁？", second):
        reading = read(state, query, lexicon=PEOPLE)
        state = apply(state, turn_done(state, reading, PEOPLE, action="answer"))
    found = read(state, "他是哪年出生的", lexicon=PEOPLE)
    assert [entity.name for entity in found.entities] == [person]
    assert person not in [entity.name for entity in read(state, "它有多少年了", lexicon=PEOPLE).entities]


def test_the_answering_model_reads_full_names_and_one_question_for_several():
    _, readings = converse("20 和 50 保修一样吗？", "这两个哪个更安静")
    assert readings[0].queries == ("20 和 50 保修一样吗？",)
    assert readings[0].question == "QF-20 和 QF-50 保修一样吗？"
    assert readings[1].separate
    assert readings[1].question.startswith("QF-20、QF-50 ")
    assert "\n" not in readings[1].question


@pytest.mark.parametrize(("file", "taken"), [("shops.txt", True), ("qf20.txt", False), (None, True)])
def test_an_answer_brings_up_only_what_its_own_files_name(file, taken):
    state, hits = empty_state(), [hit(1, file)] if file else []
    reading = read(state, "哪里可以试用？")
    answer = "可以到城北店试用。"
    state = apply(state, turn_done(state, reading, LEXICON, action="answer", answer=answer, hits=hits))
    assert ("城北店" in [focus.entity.name for focus in state.retrieval.focus]) is taken
