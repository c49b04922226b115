import pytest

from ragcli.errors import ModelUnusable
from ragcli.pipeline import eight_bit


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "models" / "e5"
    place.mkdir(parents=True)
    (place / "model.safetensors").write_bytes(b"weights")
    return place


@pytest.fixture
def made(monkeypatch):
    """What was asked for, by forms that are files of a few bytes."""
    asked = []

    def make(folder, target):
        asked.append(folder.name)
        (target / "model.xml").write_text("<net/>")
        (target / "model.bin").write_bytes(bytes(100))

    monkeypatch.setattr("ragcli.embedding.rounding.make_form", make)
    monkeypatch.setattr(eight_bit, "library", lambda: "1.0")
    return asked


def form(folder):
    return eight_bit.eight_bit_form(folder, folder.parent)


def test_a_form_is_made_once(folder, made):
    assert form(folder) == form(folder)
    assert (made, sorted(path.name for path in form(folder).iterdir())) == (
        ["e5"],
        ["model.bin", "model.xml", "sums.json"],
    )


@pytest.mark.parametrize(("name", "data"), [("model.bin", b"x"), ("model.xml", b""), ("sums.json", b"[")])
def test_a_damaged_form_is_made_anew(folder, made, name, data):
    (form(folder) / name).write_bytes(data)
    assert (form(folder) / "model.bin").read_bytes() == bytes(100)
    assert len(made) == 2


def test_the_form_of_another_version_goes(folder, made, monkeypatch):
    old = form(folder)
    monkeypatch.setattr(eight_bit, "library", lambda: "2.0")
    assert form(folder) != old
    assert not old.exists()


def test_a_form_that_cannot_be_made_leaves_nothing(folder, made, monkeypatch):
    def fail(_folder, target):
        (target / "model.xml").write_text("<ne")
        raise ModelUnusable("not_converted", path="-", reason="-")

    monkeypatch.setattr("ragcli.embedding.rounding.make_form", fail)
    with pytest.raises(ModelUnusable, match="not_converted"):
        form(folder)
    assert [path.name for path in folder.iterdir()] == ["model.safetensors"]


def test_without_the_library_it_is_named(folder, monkeypatch):
    monkeypatch.setattr(eight_bit, "library", lambda: "")
    with pytest.raises(ModelUnusable, match="no_openvino"):
        form(folder)
