import errno
import os
from pathlib import Path

import pytest

from ragcli.errors import StorageFailed
from ragcli.storage import files


class Killed(BaseException):
    """What a kill does to the code that runs: nothing after it happens."""


def calls_of(monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException) -> list[str]:
    """Let the `at`-th operating-system call of a save fail."""
    log: list[str] = []

    def wrap(name: str):
        real = getattr(os, name)

        def call(*args, **kwargs):
            log.append(name)
            if len(log) == at:
                raise error
            return real(*args, **kwargs)

        monkeypatch.setattr(os, name, call)

    for name in ("fsync", "replace", "open"):
        wrap(name)
    return log


def test_a_save_leaves_the_old_or_the_new_file_at_every_point_it_may_die(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for at in range(1, 12):
        path.write_bytes(b"old")
        with pytest.MonkeyPatch.context() as patch:
            log = calls_of(patch, at, Killed())
            try:
                files.write_atomic(path, b"new")
            except Killed:
                assert path.read_bytes() in (b"old", b"new")
            else:
                assert path.read_bytes() == b"new"
                assert len(log) < at
                return
    raise AssertionError("the save never ran to its end")


def test_a_save_is_flushed_before_and_after_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = calls_of(monkeypatch, -1, Killed())
    files.write_atomic(tmp_path / "state", b"x")
    order = [name for name in log if name != "open"]
    assert order.index("fsync") < order.index("replace") < len(order) - 1 - order[::-1].index("fsync")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_named_with_its_path_and_leaves_nothing_behind(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls_of(monkeypatch, 2, OSError(number, os.strerror(number)))
    with pytest.raises(StorageFailed) as failed:
        files.write_atomic(tmp_path / "state", b"x" * 1000)
    assert failed.value.kind == "disk_full"
    assert failed.value.fields["path"] == tmp_path / "state"
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_save_are_swept_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    left = files.temp_beside(tmp_path / "state")
    left.write_text("torn")
    assert files.sweep(tmp_path) == [left]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
