import os
from pathlib import Path

import pytest

from ragcli.storage import states
from ragcli.storage.files import TEMP_MARK
from ragcli.storage.lock import writer_lock
from ragcli.storage.states import StateFiles


def files(folder: Path, room: int = 1000) -> StateFiles:
    return StateFiles(folder, room, in_memory=0)


def aged(folder: Path, name: str, seconds: int) -> None:
    path = folder / f"{name}.state"
    os.utime(path, (path.stat().st_atime - seconds,) * 2)


def test_a_state_comes_back_in_another_process(tmp_path):
    assert files(tmp_path / "s").put("passage-a", b"cells")
    again = files(tmp_path / "s")
    assert (again.get("passage-a"), again.has("passage-a"), again.get("passage-b")) == (b"cells", True, None)
    assert (again.names(), again.size()) == ({"passage-a"}, 5)


def test_the_longest_unused_passage_makes_room_and_a_fixed_part_does_so_last(tmp_path):
    kept = files(tmp_path, 100)
    for place, name in enumerate(("fixed-f", "passage-a", "passage-b", "passage-c")):
        assert kept.put(name, b"x" * 25)
        aged(tmp_path, name, 100 - place)
    kept.get("passage-a")
    assert kept.put("passage-d", b"x" * 25)
    assert kept.names() == {"fixed-f", "passage-a", "passage-c", "passage-d"}
    assert kept.put("passage-e", b"x" * 75)
    assert kept.names() == {"fixed-f", "passage-e"}
    assert kept.size() <= 100


def test_what_does_not_fit_is_not_kept(tmp_path):
    kept = files(tmp_path, 100)
    assert not kept.put("passage-a", b"x" * 101)
    assert (kept.names(), kept.size()) == (set(), 0)


def test_what_is_protected_stays(tmp_path):
    kept = files(tmp_path, 100)
    kept.put("passage-a", b"x" * 60)
    kept.protected = {"passage-a"}
    assert not kept.put("passage-b", b"x" * 60)
    assert kept.names() == {"passage-a"}


@pytest.mark.parametrize("limit", [0, 60, 130, 1000])
def test_the_disk_never_holds_more_than_the_setting(tmp_path, limit):
    kept = files(tmp_path, limit)
    for n in range(30):
        kept.put(f"passage-{n}", b"x" * (7 * n % 50))
        assert sum(path.stat().st_size for path in tmp_path.glob("*.state")) <= limit


def test_a_killed_write_leaves_nothing_that_is_read_and_is_swept_away(tmp_path, monkeypatch):
    kept = files(tmp_path)

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(Killed):
        kept.put("passage-a", b"cells")
    monkeypatch.undo()
    (tmp_path / f"{TEMP_MARK}x").write_bytes(b"half")
    assert (kept.names(), files(tmp_path).get("passage-a")) == (set(), None)
    assert kept.put("passage-a", b"cells")
    assert not list(tmp_path.glob(f"{TEMP_MARK}*"))


def test_a_disk_that_refuses_costs_time_only(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    kept = StateFiles(tmp_path / "file" / "states", 1000)
    assert not kept.put("passage-a", b"cells")
    assert kept.get("passage-a") == b"cells"  # for this process, from memory


def test_another_writer_is_not_waited_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(states, "_WAIT", 0.01)
    with writer_lock(tmp_path / "states.lock"):
        assert not files(tmp_path).put("passage-a", b"cells")


def test_memory_holds_the_last_used_few(tmp_path):
    kept = StateFiles(tmp_path, 1000, in_memory=20)
    for name in ("a", "b", "c"):
        kept.put(name, b"x" * 10)
    for path in tmp_path.glob("*.state"):
        path.write_bytes(b"other")
    assert [kept.get(name) for name in ("c", "b", "a")] == [b"x" * 10, b"x" * 10, b"other"]
