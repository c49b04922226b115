"""The published index: changed piece by piece it finds what a new one finds, and no fault leaves it half made."""

import errno
import json
import os
import sqlite3
from pathlib import Path

import pytest

from ragcli.storage import files

WORDS = ("水泵", "阀门", "滤网", "电机", "软管", "仪表", "护罩", "轴承")


@pytest.fixture
def low(ragcli):
    """A command line that drops no hit for its score."""
    ragcli.environ["RAGCLI_RETRIEVAL_THRESHOLD"] = "0"
    return ragcli


def fill(line, number=48):
    for n in range(number):
        line.write(
            f"docs/{n:02}.txt", f"{WORDS[n % 8]}说明{n}\n\n编号K{n}X的{WORDS[n % 8]}每{n + 2}天检查一次。\n"
        )
    line.built("docs")


def manifest(line) -> dict:
    path = max((line.folder / "kb/data/index").glob("rev-*")) / "manifest.json"
    return json.loads(path.read_bytes())


def found(line, query, k=5):
    hits = line("search", query, "--json", "-k", str(k)).json["hits"]
    return [(hit["file"], hit["text"]) for hit in hits]


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_an_index_changed_piece_by_piece_finds_what_a_new_one_finds(low, kind):
    low.environ["RAGCLI_INDEX_KIND"] = kind
    fill(low)
    low.write("docs/07.txt", "轴承说明7\n\n编号K7X的轴承改为每九十天检查一次。\n")
    (low.folder / "docs/09.txt").unlink()
    low.write("docs/zz.txt", "锅炉\n\n锅炉编号Q900Z每年检验。\n")
    low("sync", "docs")
    assert manifest(low)["changed"] == 4
    changed = {query: found(low, query) for query in ("K7X轴承多久检查", "锅炉Q900Z", "水泵检查", "阀门")}
    assert "九十天" in changed["K7X轴承多久检查"][0][1]
    assert changed["锅炉Q900Z"][0][0] == "zz.txt"
    assert not [file for file, _ in found(low, "编号K9X的阀门", 60) if file == "09.txt"]
    for folder in (low.folder / "kb/data/index").glob("rev-*"):
        files.remove(folder)
    low("index")
    assert manifest(low)["changed"] == 0
    assert {query: found(low, query)[:1] for query in changed} == {q: hits[:1] for q, hits in changed.items()}


def test_a_name_that_went_with_its_file_is_not_held_any_more(low):
    from ragcli.documents.normalise import fold
    from ragcli.retrieval.lexical import LexicalIndex

    fill(low)
    (low.folder / "docs/09.txt").unlink()
    low("sync", "docs")
    folder = max((low.folder / "kb/data/index").glob("rev-*"))
    index = LexicalIndex(folder / "lexical", fold)
    assert (index.frequency("k9x"), index.frequency("k10x"), index.total) == (0, 1, 47)


def test_much_change_makes_the_index_anew(low):
    fill(low, 20)
    for n in range(12):
        low.write(f"docs/{n:02}.txt", f"改写{n}\n\n第{n}个文件全部改写了。\n")
    low("sync", "docs", "--prune")
    assert manifest(low)["changed"] == 0


def test_a_damaged_index_is_no_base_for_a_change(low):
    fill(low)
    folder = max((low.folder / "kb/data/index").glob("rev-*"))
    path = folder / "dense.faiss"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    low.write("docs/zz.txt", "锅炉\n\n锅炉编号Q900Z每年检验。\n")
    assert low("sync", "docs").code == 0
    assert manifest(low)["changed"] == 0
    assert low("check").code == 0


def test_the_same_steps_give_the_same_bytes(low, tmp_path):
    made = []
    fill(low)
    for name in ("one", "two"):
        low.environ["RAGCLI_KB"] = str(tmp_path / name)
        low("init")
        low("sync", "docs")
        made.append(json.loads((tmp_path / name / "data/index/rev-000001/manifest.json").read_bytes()))
    assert made[0] == made[1]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_that_fills_at_any_step_of_publishing_leaves_the_old_index(low, monkeypatch, code):
    fill(low)
    before = found(low, "K7X")
    low.write("docs/zz.txt", "锅炉\n\n锅炉编号Q900Z每年检验。\n")
    low("ingest", "docs")
    low("embed")
    real, steps = os.replace, []
    place = str(low.folder / "kb/data/index")

    def full(source, target, *args):
        if str(target).startswith(place):
            steps.append(target)
            if len(steps) == stop:
                raise OSError(code, os.strerror(code))
        return real(source, target, *args)

    for stop in (1, 3, 5, 8):  # noqa: B007  read by the closure
        steps.clear()
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", full)
            outcome = low("index")
        assert outcome.code == 13, outcome.err
        assert found(low, "K7X") == before
        assert low("check").code == 0
    assert low("index").code == 0
    assert found(low, "锅炉Q900Z")[0][0] == "zz.txt"
    assert not list(Path(place).glob(f"{files.TEMP_MARK}*"))


def test_an_index_or_store_of_a_newer_format_is_refused_by_name(low):
    fill(low, 4)
    from ragcli.storage import revisions

    folder = max((low.folder / "kb/data/index").glob("rev-*"))
    body = json.loads((folder / "manifest.json").read_bytes())
    body.pop("digest")
    body["format"] = revisions.FORMAT + 1
    body["digest"] = revisions._digest(body)
    (folder / "manifest.json").write_text(json.dumps(body))
    refused = low("search", "水泵")
    assert refused.code == 12
    assert str(revisions.FORMAT + 1) in refused.err
    store = sqlite3.connect(low.folder / "kb/data/store.sqlite")
    store.execute("PRAGMA user_version = 99")
    store.close()
    refused = low("status")
    assert refused.code == 12
    assert "99" in refused.err


def test_asking_for_more_than_there_is_gives_all_once(low):
    fill(low, 4)
    hits = low("search", "检查", "--json", "-k", "500").json["hits"]
    assert len(hits) == len({hit["chunk_id"] for hit in hits}) == 4


def test_an_empty_base_says_so(low):
    low("init")
    assert low("embed").code == 0
    assert low("index").code == 10
    assert low("search", "水泵").code == 10


def test_a_damaged_vector_fails_the_check_and_is_dropped_by_repair(low):
    fill(low, 6)
    path = low.folder / "kb/data/store.sqlite"
    store = sqlite3.connect(path)
    store.execute(
        "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE key = (SELECT key FROM vector_keys LIMIT 1)"
    )
    store.commit()
    store.close()
    assert low("check").code == 12
    assert low("check", "--repair").code == 0
    assert low("embed", "--json").json["vectors"]["computed"] == 1
    assert low("check").code == 0


def test_a_second_embed_reads_no_text(low, monkeypatch):
    from ragcli.pipeline import embed

    fill(low, 6)
    read = []
    real = embed.text_of
    monkeypatch.setattr(embed, "text_of", lambda stored: read.append(1) or real(stored))
    assert low("embed", "--json").json["vectors"] == {"computed": 0, "cached": 6, "failed": 0}
    assert read == []
    low.write("docs/00.txt", "新题\n\n一段新的文字。\n")
    low("ingest", "docs")
    assert low("embed", "--json").json["vectors"]["computed"] == 1
    assert len(read) <= 3
