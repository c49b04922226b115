import struct

import pytest
from gguf import GGMLQuantizationType, GGUFWriter

from ragcli.errors import ModelUnusable
from ragcli.models.gguf_check import check_gguf, split_files


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    import numpy as np

    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_token_list([b"a", b"bc", b"\xe6\xb0\xb4"])
    writer.add_token_scores([0.5, 0.25, 0.125])
    writer.add_array("nested.flags", [True, False])
    writer.add_tensor("a", np.ones((4, 64), np.float32))
    writer.add_tensor("b", np.zeros((3, 18), np.uint8), raw_dtype=GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def fault(path, data):
    path.write_bytes(data)
    with pytest.raises(ModelUnusable) as caught:
        check_gguf(path)
    assert caught.value.fields["path"] == path
    return caught.value.kind


def test_a_whole_file_passes(tmp_path, whole):
    path = tmp_path / "m.gguf"
    path.write_bytes(whole)
    check_gguf(path)


def test_mod2_a_file_that_ends_anywhere_is_named_cut(tmp_path, whole):
    last = len(whole) - whole[::-1].index(next(byte for byte in whole[::-1] if byte))
    kinds = {fault(tmp_path / "cut.gguf", whole[:size]) for size in range(8, min(last, len(whole) - 64), 7)}
    assert kinds == {"model_cut"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "model_empty"),
        (b"<!DOCTYPE html><title>Not here</title>", "model_not_gguf"),
        (b"GGUF", "model_cut"),
        (b"GGUF\x03\x00\x00\x00", "model_cut"),
        (b"GGUF" + struct.pack("<I", 99) + bytes(64), "model_not_gguf"),
        (b"PK\x03\x04" + bytes(100), "model_not_gguf"),
    ],
)
def test_mod2_what_is_no_model_is_called_by_its_name(tmp_path, data, kind):
    assert fault(tmp_path / "m.gguf", data) == kind


def test_mod2_a_folder_is_called_one(tmp_path):
    (tmp_path / "m.gguf").mkdir()
    with pytest.raises(ModelUnusable, match="model_is_folder"):
        check_gguf(tmp_path / "m.gguf")


@pytest.mark.parametrize("value", [2**31, 2**62, 2**64 - 1])
@pytest.mark.parametrize("place", [8, 16, 24])
def test_a_header_that_promises_too_much_is_refused_at_once(tmp_path, whole, place, value):
    data = bytearray(whole)
    struct.pack_into("<Q", data, place, value)
    assert fault(tmp_path / "m.gguf", bytes(data)) == "model_cut"


def test_the_parts_of_a_split_model_are_found_from_any_of_them(tmp_path):
    names = [f"m-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    assert [path.name for path in split_files(tmp_path / names[1])] == names
    assert split_files(tmp_path / "single.gguf") == [tmp_path / "single.gguf"]
