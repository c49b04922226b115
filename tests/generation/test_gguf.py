import struct

import pytest

from ragcli.errors import ModelUnusable
from ragcli.generation.gguf import memory_need, read_header


def _text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _pair(key, kind, value):
    return _text(key) + struct.pack("<I", kind) + value


def _gguf(words=1000, layers=28, tail=4096):
    pairs = [
        _pair("general.architecture", 8, _text("qwen2")),
        _pair("qwen2.block_count", 4, struct.pack("<I", layers)),
        _pair("qwen2.embedding_length", 4, struct.pack("<I", 3584)),
        _pair("qwen2.feed_forward_length", 4, struct.pack("<I", 18944)),
        _pair("qwen2.attention.head_count", 4, struct.pack("<I", 28)),
        _pair("qwen2.attention.head_count_kv", 4, struct.pack("<I", 4)),
        _pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, words) + _text("ab") * words),
        _pair("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, words) + b"\0" * 4 * words),
    ]
    tensor = _text("token_embd.weight") + struct.pack("<IQQIQ", 2, 3584, words, 0, 32)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor + b"\0" * tail


def test_a_header_is_read(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(_gguf())
    head = read_header(path)
    assert (head["qwen2.block_count"], head["tokenizer.ggml.tokens"], head["tensors"]) == (28, 1000, 1)


def test_the_need_grows_with_context_and_a_repacked_copy(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(_gguf())
    a_token = 28 * 2 * 4 * 128 * 2  # layers, keys and values, heads, width, bytes
    assert memory_need(path, 8192) - memory_need(path, 4096) == 4096 * a_token
    assert memory_need(path, 4096) - memory_need(path, 4096, repacked=False) == path.stat().st_size
    assert memory_need(path, 4096, cache_type="q8_0") < memory_need(path, 4096)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "model_empty"),
        (b"<!doctype html>", "model_not_gguf"),
        (b"GGUF\x03\0\0\0", "model_cut"),
        (_gguf()[:300], "model_cut"),
        (_gguf(tail=0), "model_cut"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**62, 2**62), "model_not_gguf"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**40), "model_cut"),
    ],
)
def test_mod2_what_is_wrong_with_a_file_is_said(tmp_path, data, kind):
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelUnusable) as caught:
        read_header(path)
    assert (caught.value.kind, caught.value.fields["path"]) == (kind, path)


def test_mod2_a_folder_and_a_missing_file(tmp_path):
    with pytest.raises(ModelUnusable) as caught:
        read_header(tmp_path)
    assert caught.value.kind == "model_is_folder"
    with pytest.raises(ModelUnusable) as caught:
        read_header(tmp_path / "none.gguf")
    assert caught.value.kind == "model_unreadable"
