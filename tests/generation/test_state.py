from ragcli.generation import state

KEY = state.key_of("model", "build")


def test_a_state_comes_back_whole():
    assert state.unpack(state.pack(KEY, [1, 2, 3], b"cells"), KEY, [1, 2, 3]) == b"cells"


def test_another_models_builds_or_texts_state_is_not_used():
    data = state.pack(KEY, [1, 2, 3], b"cells")
    assert state.unpack(data, state.key_of("model", "other build"), [1, 2, 3]) is None
    assert state.unpack(data, state.key_of("other model", "build"), [1, 2, 3]) is None
    assert state.unpack(data, KEY, [1, 2, 4]) is None


def test_no_flipped_bit_and_no_cut_is_accepted():
    data = state.pack(KEY, [1, 2, 3], b"cells" * 10)
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 1 << (place % 8)
        assert state.unpack(bytes(broken), KEY, [1, 2, 3]) is None, place
        assert state.unpack(data[:place], KEY, [1, 2, 3]) is None, place


def test_names_tell_prompts_apart():
    assert state.name_of(KEY, [1, 23]) != state.name_of(KEY, [12, 3])
