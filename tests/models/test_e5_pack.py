import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import ModelUnusable
from ragcli.models.e5_pack import dequantise, parse
from tests.models.small import CHARACTERS, PIECES, SHAPE, pack_bytes

WHOLE = pack_bytes()


def test_a_whole_pack_is_read():
    pack = parse(WHOLE, "x")
    assert pack.shape.hidden == SHAPE.hidden
    assert pack.shape.eps == pytest.approx(SHAPE.eps)
    assert pack.tokens.pieces == PIECES
    assert pack.tokens.characters == CHARACTERS
    assert (pack.tokens.bos, pack.tokens.eos, pack.tokens.pad, pack.tokens.unk) == (0, 2, 1, 3)
    assert pack.floats("emb.word").shape == (SHAPE.rows * SHAPE.hidden,)


def test_blocks_are_low_nibbles_first_less_eight_times_the_scale():
    block = np.array([0] * 18, np.uint8)
    block[:2] = np.array([0.5], "<f2").view(np.uint8)
    block[2], block[17] = 0x9F, 0x08
    weights = dequantise(block.reshape(1, 18))
    assert weights[0] == (15 - 8) * 0.5
    assert weights[16] == (9 - 8) * 0.5
    assert weights[15] == 0.0
    assert weights[31] == -4.0


@pytest.mark.parametrize("share", [0, 1, 3, 10, 30, 50, 80, 99, 99.99])
def test_a_cut_pack_is_named_corrupt(share):
    with pytest.raises(ModelUnusable) as caught:
        parse(WHOLE[: int(len(WHOLE) * share / 100)], "somewhere/e5.bin")
    assert caught.value.kind == "model_corrupt"
    assert caught.value.fields["path"] == "somewhere/e5.bin"


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_wrong_bytes_are_an_error_of_ours_or_harmless(place, patch):
    data = bytearray(WHOLE)
    data[place : place + len(patch)] = patch
    try:
        pack = parse(bytes(data[: len(WHOLE)]), "x")
    except ModelUnusable:
        return
    assert pack.floats("emb.word").size == pack.shape.rows * pack.shape.hidden


@pytest.mark.parametrize("value", [0, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("field", range(10))
def test_hostile_sizes_are_refused_before_they_are_used(field, value):
    data = bytearray(WHOLE)
    struct.pack_into("<i", data, 4 + 4 * field, value)
    with pytest.raises(ModelUnusable):
        parse(bytes(data), "x")


def test_a_tensor_outside_the_file_is_refused():
    at = WHOLE.index(b"emb.word") + len("emb.word")
    kind, numbers, _, size = struct.unpack_from("<BIQQ", WHOLE, at)
    for offset in (len(WHOLE), len(WHOLE) - size + 1, 2**63):
        data = bytearray(WHOLE)
        struct.pack_into("<BIQQ", data, at, kind, numbers, offset, size)
        with pytest.raises(ModelUnusable):
            parse(bytes(data), "x")
