import stat
from pathlib import Path

import pytest

from ragcli.storage.sessions import SavedTurn, Sessions


@pytest.fixture
def sessions(tmp_path: Path):
    opened = Sessions(tmp_path / "data" / "sessions.sqlite")
    yield opened
    opened.close()


def turn(number: int, session: str = "s") -> SavedTurn:
    return SavedTurn(
        session,
        number,
        float(number),
        f"问{number}",
        {"answer": str(number)},
        {"gate": "x"},
        {"turn": number},
    )


def test_conversations_are_private_to_their_owner(sessions: Sessions) -> None:
    assert stat.S_IMODE(sessions.path.stat().st_mode) == 0o600


def test_a_session_goes_on_at_its_last_turn(sessions: Sessions) -> None:
    for number in (1, 2, 3):
        sessions.save_turn(turn(number))
    assert sessions.last_turn("s") == (turn(3), 0)
    assert sessions.last_turn("other") == (None, 0)


def test_f19_a_damaged_turn_is_set_aside_for_the_one_before(sessions: Sessions) -> None:
    for number in (1, 2, 3):
        sessions.save_turn(turn(number))
    sessions.connection.execute("UPDATE turns SET state = replace(state, '3', '4') WHERE turn = 3")
    assert sessions.last_turn("s") == (turn(2), 1)


def test_old_traces_are_forgotten_and_the_answers_stay(sessions: Sessions) -> None:
    for number in (1, 2):
        sessions.save_turn(turn(number))
    assert sessions.forget_traces(before=1.5) == 1
    assert [(item.trace, item.record["answer"]) for item in sessions.turns("s")] == [
        ({}, "1"),
        ({"gate": "x"}, "2"),
    ]


def test_removing_a_session_leaves_the_others(sessions: Sessions) -> None:
    sessions.save_turn(turn(1))
    sessions.save_turn(turn(1, "t"))
    assert sessions.remove("s") == 1
    assert [info.session for info in sessions.overview()] == ["t"]
