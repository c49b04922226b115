import json
import random
from pathlib import Path

import pytest

from ragcli.errors import Damaged, NotReady
from ragcli.storage.revisions import begin_revision, current_revision, publish_revision, verify_revision


def publish(index: Path, text: bytes = b"x" * 500) -> None:
    folder = begin_revision(index)
    (folder / "dense").write_bytes(text)
    (folder / "lexical").mkdir()
    (folder / "lexical" / "terms").write_bytes(text[::-1])
    publish_revision(index, folder, {"state": "s"})


def test_the_newest_whole_revision_is_current_and_the_one_before_stays(tmp_path: Path) -> None:
    for number in range(3):
        publish(tmp_path, bytes([number]) * 100)
    current = current_revision(tmp_path)
    verify_revision(current)
    assert current.number == 3
    assert sorted(path.name for path in tmp_path.glob("rev-*")) == ["rev-000002", "rev-000003"]


def test_an_unpublished_revision_is_never_seen_and_is_swept_by_the_next(tmp_path: Path) -> None:
    publish(tmp_path)
    torn = begin_revision(tmp_path)
    (torn / "dense").write_bytes(b"half")
    assert current_revision(tmp_path).number == 1
    publish(tmp_path)
    assert not torn.exists()


@pytest.mark.parametrize("name", ["dense", "lexical/terms", "manifest.json"])
@pytest.mark.parametrize("seed", range(10))
def test_f15_one_flipped_bit_in_any_file_is_found_before_it_is_parsed(
    name: str, seed: int, tmp_path: Path
) -> None:
    publish(tmp_path)
    path = current_revision(tmp_path).folder / name
    data = bytearray(path.read_bytes())
    place = random.Random(seed).randrange(len(data) * 8)
    data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)
    with pytest.raises(Damaged):
        verify_revision(current_revision(tmp_path))


@pytest.mark.parametrize("length", [0, 1, 250, 499])
def test_f14_a_file_of_another_length_is_found(length: int, tmp_path: Path) -> None:
    publish(tmp_path)
    path = current_revision(tmp_path).folder / "dense"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(Damaged) as damaged:
        verify_revision(current_revision(tmp_path))
    assert damaged.value.fields["path"] == path


def test_a_missing_file_and_a_newer_format_are_refused(tmp_path: Path) -> None:
    publish(tmp_path)
    revision = current_revision(tmp_path)
    (revision.folder / "dense").unlink()
    with pytest.raises(Damaged):
        verify_revision(revision)
    other = tmp_path / "other"
    publish(other)
    manifest = current_revision(other).folder / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 9}))
    with pytest.raises(Damaged):
        current_revision(other)


def test_no_index_is_not_ready_and_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(NotReady):
        current_revision(tmp_path)
