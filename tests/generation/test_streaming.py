import pytest

from ragcli.generation.streaming import Characters, Thoughts, looping, without_thoughts


def _shown(pieces):
    thoughts = Thoughts()
    out = ""
    for piece in pieces:
        new = thoughts.feed(piece)
        if thoughts.dropped_before:
            out, thoughts.dropped_before = "", False
        out += new
    return (out + thoughts.finish()).strip()


def test_cli1_characters_come_whole_however_the_bytes_are_cut():
    text = "阀门已关🔔，等待复位。"
    data = text.encode()
    for size in (1, 2, 3, 5):
        characters = Characters()
        assert "".join(characters.feed(data[i : i + size]) for i in range(0, len(data), size)) == text


def test_cli1_an_incomplete_tail_is_dropped_and_nothing_before_it():
    characters = Characters()
    data = "风机停止".encode()
    assert characters.feed(data[:-1]) == "风机停"


@pytest.mark.parametrize(
    ("pieces", "want"),
    [
        (["<th", "ink>查阅容量", "一节</thi", "nk>", "容量为两升。"], "容量为两升。"),
        (["先查容量。", "</think>", "\n容量为", "两升。"], "容量为两升。"),
        (["<think>", "想个不停"], ""),
        (["写作 <thin", "k-tank> 的标签。"], "写作 <think-tank> 的标签。"),
        (["<think>a</think>", "甲。", "<think>b</think>", "乙。"], "甲。乙。"),
        (["结尾 <thi"], "结尾 <thi"),
    ],
)
def test_gen1_thoughts_are_taken_out_however_they_are_cut(pieces, want):
    assert _shown(pieces) == want
    assert without_thoughts("".join(pieces)) == want


def test_a_stream_that_begins_inside_a_thought():
    thoughts = Thoughts(inside=True)
    assert thoughts.feed("想一想") == ""
    assert thoughts.feed("</think>好") + thoughts.finish() == "好"


def test_loops_are_seen_and_lists_are_not():
    assert looping([7] * 60)
    assert looping([1, 2, 3, 4] * 20)
    assert not looping(list(range(100)))
    assert not looping([5, 6, 5, 6, 5, 6])
