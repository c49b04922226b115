import json

import numpy as np
import pytest
from gguf import GGUFReader
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from ragcli.models import e5_forms, e5_pack
from ragcli.models.e5_charsmap import charsmap
from ragcli.models.gguf_check import check_gguf
from ragcli.storage import files
from tests.models.gguf_form import write_gguf
from tests.models.small import CHARACTERS, PIECES, entry_of, pack_bytes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("e5")
    packed = place / "packed.bin"
    packed.write_bytes(pack_bytes())
    entry = entry_of("tiny-e5", packed.read_bytes(), (), place / "wheels", "e5")
    e5_forms.make_forms(entry, packed, place / "tiny-e5", files)
    return place / "tiny-e5"


@pytest.fixture(scope="module")
def pack():
    return e5_pack.parse(pack_bytes(), "x")


def test_the_folder_holds_every_weight_in_float16(folder, pack):
    weights = load_file(folder / "model.safetensors")
    words = weights["embeddings.word_embeddings.weight"]
    assert words.dtype == np.float16
    np.testing.assert_array_equal(words.ravel(), pack.floats("emb.word").astype(np.float16))
    up = weights["encoder.layer.0.intermediate.dense.weight"]
    assert up.shape == (pack.shape.ffn, pack.shape.hidden)
    np.testing.assert_array_equal(up.ravel(), pack.floats("l0.fi.w").astype(np.float16))


def test_a_gguf_carries_the_blocks_over_as_they_are(tmp_path, pack):
    path = tmp_path / "m.gguf"
    write_gguf(pack, path, "tiny", "MIT")
    check_gguf(path)
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    assert tensors["blk.0.ffn_down.weight"].data.tobytes() == pack.blocks("l0.fo.w").tobytes()
    rows = pack.blocks("emb.word").tobytes()[: len(PIECES) * pack.shape.hidden // 32 * 18]
    assert tensors["token_embd.weight"].data.tobytes() == rows


def test_the_tokenizer_splits_by_the_packs_pieces_between_its_marks(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokens = tokenizer.encode("query: 水箱多\u3000大？").tokens
    assert tokens == ["<s>", "▁query", ":", "▁水箱", "多", "▁", "大", "?", "</s>"]


def test_the_folder_lists_the_sha256_of_all_its_files(folder):
    made = json.loads((folder / "files.json").read_bytes())
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"files.json"}
    assert set(made["files"]) == there


def test_the_same_pack_gives_the_same_bytes(folder, tmp_path):
    packed = tmp_path / "packed.bin"
    packed.write_bytes(pack_bytes())
    entry = entry_of("tiny-e5", packed.read_bytes(), (), tmp_path / "wheels", "e5")
    e5_forms.make_forms(entry, packed, tmp_path / "again", files)
    assert (tmp_path / "again" / "files.json").read_bytes() == (folder / "files.json").read_bytes()


def test_a_failure_on_the_way_leaves_nothing(tmp_path):
    packed = tmp_path / "packed.bin"
    packed.write_bytes(pack_bytes()[:-1])
    entry = entry_of("tiny-e5", b"x", (), tmp_path / "wheels", "e5")
    with pytest.raises(Exception, match="model_corrupt"):
        e5_forms.make_forms(entry, packed, tmp_path / "place", files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["packed.bin", "wheels"]


def read_charsmap(data: bytes, text: bytes) -> tuple[bytes, int] | None:
    """Walk the trie as llama.cpp and sentencepiece do; return the replacement and the length of what it replaces."""
    size = int(np.frombuffer(data, "<u4", 1)[0])
    units = np.frombuffer(data, "<u4", size // 4, 4)
    node, found = 0, None

    def base(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)

    node ^= base(int(units[node]))
    for length, byte in enumerate(text, 1):
        node ^= byte
        unit = int(units[node])
        if unit & (1 << 31 | 0xFF) != byte:
            break
        node ^= base(unit)
        if unit >> 8 & 1:
            start = 4 + size + (int(units[node]) & 0x7FFFFFFF)
            found = data[start : data.index(b"\0", start)], length
    return found


CHARS = st.integers(1, 0x10FFFF).filter(lambda code: not 0xD800 <= code < 0xE000)


@given(
    st.dictionaries(CHARS, st.lists(CHARS, max_size=4).map(tuple), min_size=1, max_size=60),
    st.lists(CHARS, max_size=20),
)
@settings(max_examples=40, deadline=None)
def test_every_character_is_read_as_the_map_says_and_no_other(mapped, others):
    data = charsmap(mapped)
    for code, read_as in mapped.items():
        assert read_charsmap(data, chr(code).encode()) == (
            "".join(map(chr, read_as)).encode(),
            len(chr(code).encode()),
        )
    for code in set(others) - set(mapped):
        assert read_charsmap(data, chr(code).encode()) is None


def test_the_small_map_survives_too():
    assert read_charsmap(charsmap(CHARACTERS), "？".encode()) == (b"?", 3)
