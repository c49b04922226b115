"""When to ask back, and how the short reply completes the question."""

from dataclasses import replace

import pytest

from ragcli.dialogue.clarify import decide
from ragcli.dialogue.events import apply
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.reading import RewriteOptions
from ragcli.dialogue.spoken import for_each
from ragcli.dialogue.state import empty_state
from tests.dialogue.conversation import LEXICON, hit, read, step

TWINS = (
    hit(1, "qf20.txt", "功率为 20 W。", ("第一章 参数",)),
    hit(2, "qf50.txt", "功率为 50 W。", ("第一章 参数",), score=0.95),
)


def asked(query="加湿的功率是多少"):
    state = empty_state()
    reading = read(state, query)
    decision = decide(reading, TWINS, state, LEXICON)
    state, _ = step(state, query, decision.question, TWINS, decision.action, decision.pending)
    return state, decision


def test_siblings_with_sections_of_one_name_are_asked_about():
    state, decision = asked()
    assert decision.action == "clarify"
    assert "QF-20" in decision.question
    assert "QF-50" in decision.question
    assert state.pending is not None


def test_a_question_that_names_the_model_is_answered():
    state = empty_state()
    decision = decide(read(state, "QF-50 的功率是多少"), TWINS, state, LEXICON)
    assert decision.action == "answer"


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("QF-50", ("QF-50",)),
        ("50", ("QF-50",)),
        ("第二个", ("QF-50",)),
        ("2", ("QF-50",)),
        ("qf20 的", ("QF-20",)),
        ("都要", ("QF-20", "QF-50")),
        ("大的", ("QF-50",)),
        ("小一号的", ("QF-20",)),
    ],
)
def test_a_short_reply_completes_the_pending_question(reply, queries):
    state, _ = asked()
    reading = read(state, reply)
    assert reading.verdict.kind == "reply"
    assert len(reading.queries) == len(queries)
    assert all(
        name in query and "功率" in query for name, query in zip(queries, reading.queries, strict=True)
    )


def test_a_reply_is_kept_as_a_fact_and_ends_the_pending_question():
    state, _ = asked()
    state, _ = step(state, "QF-50")
    assert state.pending is None
    assert [fact.kind for fact in state.facts] == ["affirmed"]


def test_the_same_is_never_asked_twice():
    state = replace(empty_state(), clarified=("QF-20 / QF-50",))
    again = decide(read(state, "加湿的功率是多少"), TWINS, state, LEXICON)
    assert again.action == "answer"
    assert len(again.choices) == 2


def test_the_cautious_habit_answers_first_asks_the_second_time_and_never_again():
    state, cautious = empty_state(), RewriteOptions(clarify_after=2)
    actions = []
    for _ in range(3):
        reading = read(state, "加湿的功率是多少")
        decision = decide(reading, TWINS, state, LEXICON, cautious)
        actions.append((decision.action, [choice.label for choice in decision.choices]))
        event = turn_done(
            state,
            reading,
            LEXICON,
            action=decision.action,
            pending=decision.pending,
            left_open=decision.left_open,
        )
        state = replace(empty_state(), clarified=apply(state, event).clarified)
    both = ["QF-20", "QF-50"]
    assert actions == [("answer", both), ("clarify", both), ("answer", both)]


def test_a_question_answered_for_each_choice_names_them_to_the_model():
    assert for_each("功率是多少", ["QF-20", "QF-50"], "zh") == "功率是多少（QF-20、QF-50，请分别说明）"


def test_nothing_found_is_said():
    state = empty_state()
    assert decide(read(state, "QF-50 的功率是多少"), (), state, LEXICON).action == "not_found"


def test_a_standing_preference_settles_the_choice():
    state = empty_state({"product": "QF-20"})
    assert decide(read(state, "加湿的功率是多少"), TWINS, state, LEXICON).action == "answer"
