"""Which files are read, which are left out and why, and that nothing odd stops or spoils the run."""

import os
import socket
from pathlib import Path

import pytest

from ragcli.documents.sources import Found, find_sources, read_source, shown
from ragcli.errors import SourceUnreadable, UsageError

INCLUDE = ("*.txt", "*.TXT", "*.text")


def find(*paths: str | Path, limit: int = 10**6) -> Found:
    return find_sources([str(path) for path in paths], INCLUDE, limit)


def left_out(found: Found) -> dict[str, str]:
    return {item.file: item.kind for item in found.skipped}


def test_fil1_links_pipes_and_folders_named_like_files_are_listed_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "memo.txt").mkdir()
    (tmp_path / "one.txt").write_text("第一章 子\n子泵运行。\n")
    (tmp_path / "below" / "two.txt").write_text("第一章 丑\n丑泵检修。\n")
    (tmp_path / "gone.txt").symlink_to("nowhere.txt")
    (tmp_path / "below" / "round").symlink_to("..")
    (tmp_path / "out.txt").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "queue.txt")
    found = find(tmp_path)
    assert [source.file for source in found.sources] == ["below/two.txt", "one.txt"]
    assert left_out(found) == {
        "gone.txt": "broken_link",
        "below/round": "link_loop",
        "out.txt": "link_leaves_folder",
        "queue.txt": "pipe",
    }
    assert all(item.counts_as_failure for item in found.skipped)


def test_other_types_are_listed_with_a_command_and_are_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "b.xyz").write_bytes(b"x")
    (tmp_path / ".hidden").write_bytes(b"x")
    found = find(tmp_path)
    assert left_out(found) == {"a.pdf": "convert_first", "b.xyz": "other_type"}
    assert "a.txt" in str(found.skipped[0].fields["command"])
    assert not any(item.counts_as_failure for item in found.skipped)


def test_each_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("甲")
    (tmp_path / "again.txt").symlink_to("a.txt")
    os.link(tmp_path / "a.txt", tmp_path / "hard.txt")
    assert len(find(tmp_path, tmp_path / "a.txt", tmp_path).sources) == 1


def test_patterns_and_named_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "b.TXT", "c.md", "sub/d.txt"):
        (tmp_path / name).write_text("字")
    assert [source.file for source in find(tmp_path / "*.txt").sources] == ["a.txt"]
    assert [source.file for source in find(tmp_path / "**/*.txt").sources] == ["a.txt", "d.txt"]
    assert [source.file for source in find(tmp_path / "c.md").sources] == ["c.md"]
    assert [source.file for source in find(tmp_path).sources] == ["a.txt", "b.TXT", "sub/d.txt"]


@pytest.mark.parametrize("name", ["missing.txt", "none*.txt", "no/such/folder"])
def test_a_path_that_does_not_exist_is_wrong_usage(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no_such_path"):
        find(tmp_path / name)


def test_names_that_are_not_text_are_shown_escaped(tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff.txt", os.O_CREAT | os.O_WRONLY))
    found = find(tmp_path)
    assert left_out(found) == {"bad\\xff.txt": "name_not_text"}
    assert shown("a\u202eb\x9b.txt") == "a\\u202eb\\x9b.txt"


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with open(tmp_path / "big.txt", "wb") as file:
        file.truncate(2**32)
    found = find(tmp_path, limit=2**20)
    assert left_out(found) == {"big.txt": "too_large"}
    assert found.skipped[0].fields == {"mb": 4096, "limit_mb": 1}
    with pytest.raises(SourceUnreadable, match="too_large"):
        read_source(tmp_path / "big.txt", 2**20)


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceUnreadable, match="not_a_file"):
        read_source(tmp_path / "pipe", 100)
    with pytest.raises(SourceUnreadable, match="not_a_file"):
        read_source(Path("/dev/zero"), 100)
    with pytest.raises(SourceUnreadable, match="not_a_file"):
        read_source(tmp_path, 100)
    place = socket.socket(socket.AF_UNIX)
    place.bind(str(tmp_path / "s.txt"))
    assert left_out(find(tmp_path))["s.txt"] == "socket"
    place.close()


def test_a_file_that_vanished_is_said_to_have(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="vanished"):
        read_source(tmp_path / "gone.txt", 100)


def test_many_small_files_are_found(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number:04d}.txt").write_bytes(b"x")
    assert len(find(tmp_path).sources) == 1500


def test_a_link_loop_among_folders_ends(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text(name)
    (tmp_path / "a" / "to_b").symlink_to("../b")
    (tmp_path / "b" / "to_a").symlink_to("../a")
    (tmp_path / "self").symlink_to("self")
    found = find(tmp_path)
    assert sorted(source.path.read_text() for source in found.sources) == ["a", "b"]
    assert left_out(found)["self"] == "link_loop"
