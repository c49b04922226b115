"""The state and its snapshot, the replay of a history, and compression."""

import json

import pytest

from ragcli.dialogue.compress import compress, pressure
from ragcli.dialogue.events import Compressed, FactForgotten, ProfileSet, apply
from ragcli.dialogue.history import replay
from ragcli.dialogue.rewrite_model import messages_for
from ragcli.dialogue.snapshot import from_json, to_json
from ragcli.dialogue.state import FOCUS_DEPTH, ContextLayer, empty_state
from ragcli.errors import Damaged
from tests.dialogue.conversation import LEXICON, TODAY, converse, fold, hit, read, step


def long_talk(turns=30):
    state = empty_state()
    for i in range(turns):
        name = "QF-20" if i % 3 else "城北店"
        state, _ = step(
            state, f"{name}的第{i}项指标是多少", f"第 {i} 项是 {i} 个单位。", [hit(i, "qf20.txt")]
        )
    state, _ = step(state, "记住，我家是 QF-20")
    return state


def test_a_snapshot_reads_back_as_the_same_state():
    state = long_talk(6)
    assert from_json(json.loads(json.dumps(to_json(state)))) == state


@pytest.mark.parametrize(
    ("data", "kind"),
    [({"version": 99}, "session_from_the_future"), ({"version": 1}, "session_damaged"), ({}, "session_damaged"),
     ({"version": 1, "state": {"turn": "x"}}, "session_damaged")],
)  # fmt: skip
def test_what_is_no_snapshot_is_refused(data, kind):
    with pytest.raises(Damaged) as caught:
        from_json(data)
    assert caught.value.kind == kind


def test_apply_leaves_the_old_state_alone():
    before = empty_state()
    after = apply(before, ProfileSet("language", "zh"))
    assert (dict(before.profile), dict(after.profile)) == ({}, {"language": "zh"})
    assert dict(apply(after, ProfileSet("language")).profile) == {}


def test_a_fact_can_be_forgotten():
    state, _ = converse("记住，我家是 QF-20")
    assert [fact.text for fact in state.facts] == ["记住，我家是 QF-20"]
    assert apply(state, FactForgotten(0)).facts == ()


def test_the_focus_stack_and_the_seen_set_stay_in_bounds_and_whole():
    state = long_talk(12)
    assert len(state.retrieval.focus) <= FOCUS_DEPTH
    assert state.retrieval.seen == tuple(range(12))


def test_a_history_is_replayed_with_what_the_assistant_named():
    state = replay(
        [
            {"user": "", "assistant": "木棉画廊听说过吗？"},
            {"user": "附近还有什么", "assistant": "附近还有青石剧场。"},
        ],
        LEXICON,
        fold=fold,
        today=TODAY,
    )
    assert "青石剧场" in read(state, "它几点关门").standalone


@pytest.mark.parametrize("budget", [200, 400, 700])
def test_compression_changes_the_context_layer_only(budget):
    state = long_talk()
    outcome = compress(state, budget, len)
    assert outcome.done
    after = outcome.state
    assert (after.facts, after.task, after.retrieval) == (state.facts, state.task, state.retrieval)
    assert len(state.context.turns) - len(after.context.turns) >= 4
    assert after.context.summary


def test_there_is_no_compression_with_room_or_for_fewer_than_four_turns():
    assert not compress(long_talk(2), 100000, len).done
    assert not compress(long_talk(3), 20, len).done


def test_a_models_summary_that_loses_a_name_is_replaced():
    state = long_talk()
    outcome = compress(state, 400, len, lambda before, gone, wanted: "一段闲聊")
    assert outcome.done
    assert "QF-20" in outcome.state.context.summary
    kept = compress(state, 400, len, lambda before, gone, wanted: "谈过" + "、".join(wanted))
    assert kept.state.context.summary.startswith("谈过")


def test_pressure_is_soft_from_seventy_and_hard_from_ninety_percent():
    state = apply(empty_state(), Compressed(ContextLayer((), "x" * 80)))
    assert [pressure(state, budget, len) for budget in (200, 100, 85)] == ["none", "soft", "hard"]


def test_a_hundred_turns_keep_facts_slots_and_the_seen_set():
    state, sizes = empty_state(), []
    for i in range(100):
        state, _ = step(state, f"QF-20 的第{i}项是多少", f"第{i}项是{i}毫米，" * 9, [hit(i, "qf20.txt")])
        seen, facts, slots = state.retrieval.seen, state.facts, state.task
        state = compress(state, 600, len).state
        assert (state.retrieval.seen, state.facts, state.task) == (seen, facts, slots)
        sizes.append(len(messages_for("它多少钱", state)[-1].content))
    assert len(state.context.summary) <= 600
    assert state.turn == 100
    assert max(sizes[10:]) <= max(sizes[:10]) + 20
