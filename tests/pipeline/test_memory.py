import pytest

from ragcli.config import Settings, set_value
from ragcli.errors import ModelUnusable
from ragcli.pipeline import memory


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "model_path", lambda name, _role, folder: folder / name)
    monkeypatch.setattr(memory, "memory_need", lambda path, context: len(path.name) * 1000 + context)
    return tmp_path


def test_both_roles_count_once_where_they_are_one_file(files):
    settings = set_value(Settings(), "generation", "model", "big", "x", trusted=True)
    one = memory.need_of(settings, files)
    same = memory.need_of(set_value(settings, "rewrite", "model", "big", "x", trusted=True), files)
    two = memory.need_of(set_value(settings, "rewrite", "model", "small", "x", trusted=True), files)
    assert one.models == same.models == 3000 + 4096
    assert two.models == one.models + 5000 + 4096


def test_the_index_counts(files):
    (files / "index" / "rev").mkdir(parents=True)
    (files / "index" / "rev" / "vectors").write_bytes(b"x" * 500)
    need = memory.need_of(Settings(), files, files / "index")
    assert need.index == 500
    assert need.total > need.models + need.index


def test_what_would_swap_is_refused_in_words(files, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 5000)
    memory.check_load(files / "m", 4000)
    with pytest.raises(ModelUnusable) as caught:
        memory.check_load(files / "m", 4001)
    assert caught.value.kind == "too_little_memory"
    assert caught.value.exit_code == 14


def test_what_is_available_is_read_from_the_system_or_taken_as_all_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    assert memory.available_bytes() == memory.machine_bytes()
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:      3 kB\n")
    assert memory.available_bytes() == 3072
