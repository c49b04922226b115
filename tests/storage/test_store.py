import sqlite3
from pathlib import Path

import pytest

from ragcli.datatypes import Chunk, chunk_id_of
from ragcli.errors import Damaged, NotReady
from ragcli.storage.store import Store, StoredDocument


def chunk(file: str, text: str, line: int = 1, start: int = 0, occurrence: int = 0) -> Chunk:
    chunk_id = chunk_id_of(file, ("章",), text, occurrence)
    return Chunk(chunk_id, ("章",), "text", text, line, line, start, start + len(text))


def document(file: str, root: str = "/docs") -> StoredDocument:
    return StoredDocument(root, file, "0" * 64, 10, "utf-8", "题", "s", 3, [], [])


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "store.sqlite", create=True)
    yield opened
    opened.close()


def test_a_chunk_comes_back_as_it_was_stored(store: Store) -> None:
    one = Chunk(5, ("第一章", "第一节"), "table", "行\n", 3, 4, 10, 12, header="头\n", embed_text=None)
    store.put_document(document("a.txt"), [one])
    assert [stored.chunk for stored in store.fetch([5])] == [one]


def test_replacing_a_file_counts_what_really_changed(store: Store) -> None:
    store.put_document(document("a.txt"), [chunk("a.txt", "甲"), chunk("a.txt", "乙")])
    assert store.put_document(document("a.txt"), [chunk("a.txt", "甲"), chunk("a.txt", "丙")]) == (1, 1)
    assert store.count_chunks() == 2


def test_the_same_file_under_two_folders_is_kept_twice(store: Store) -> None:
    store.put_document(document("a.txt", "/one"), [chunk("a.txt", "甲")])
    store.put_document(document("a.txt", "/two"), [chunk("a.txt", "甲")])
    assert store.count_chunks() == 2
    store.drop_document("/one", "a.txt")
    assert [item.chunk.text for item in store.all_chunks()] == ["甲"]


def test_the_state_names_the_set_of_chunks_whatever_their_order(tmp_path: Path) -> None:
    states = []
    for number, order in enumerate((["a.txt", "b.txt"], ["b.txt", "a.txt"])):
        store = Store(tmp_path / f"{number}.sqlite", create=True)
        for file in order:
            store.put_document(document(file), [chunk(file, file)])
        states.append(store.state())
        store.drop_document("/docs", "a.txt")
        assert store.state() != states[-1]
        store.close()
    assert states[0] == states[1]


def test_a_changed_byte_in_a_chunk_is_found_when_it_is_read(store: Store) -> None:
    store.put_document(document("a.txt"), [chunk("a.txt", "油温七十度")])
    store.connection.execute("UPDATE chunks SET body = '油温九十度'")
    with pytest.raises(Damaged) as damaged:
        store.fetch([chunk("a.txt", "油温七十度").chunk_id])
    assert damaged.value.fields["file"] == "a.txt"


def test_a_file_that_is_no_database_is_damaged_and_a_newer_one_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"not a database" * 1000)
    with pytest.raises(Damaged):
        Store(broken)
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Damaged) as refused:
        Store(newer)
    assert refused.value.kind == "newer_format"


def test_a_missing_store_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(NotReady):
        Store(tmp_path / "data" / "store.sqlite")
    assert list(tmp_path.iterdir()) == []
