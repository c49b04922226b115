"""Chunks: sizes, borders, overlaps, tokens, page headers."""
# ruff: noqa: E501  (texts stand here as they are read)

import unicodedata
from itertools import pairwise

import pytest

from ragcli.datatypes import SplitOptions
from ragcli.documents.sizes import EXPANDING, most_tokens
from tests.documents.reading import kept, read

SENTENCE = "第{n}条记录说明值班员在{n}点整读取压力表并且写在本子上。"


def test_lin5_one_line_without_an_end_is_cut_after_sentences() -> None:
    text = "".join(SENTENCE.format(n=n) for n in range(1, 300))
    document = read(text)
    assert all(chunk.body.endswith("。") for chunk in document.chunks)
    assert any(SENTENCE.format(n=200) in chunk.body for chunk in document.chunks)
    assert max(len(chunk.text) for chunk in document.chunks) <= 500
    assert kept(document) == text


def test_lin5_a_run_without_any_border_is_cut_hard() -> None:
    text = "0123456789abcdef" * 500
    document = read(text)
    assert max(len(chunk.text) for chunk in document.chunks) <= 500
    assert kept(document) == text


def test_neighbours_overlap_at_a_sentence_and_only_under_one_heading() -> None:
    body = "".join(SENTENCE.format(n=n) + "\n" for n in range(1, 60))
    document = read(f"第一章 甲\n{body}第二章 乙\n{body}")
    for before, after in pairwise(document.chunks):
        shared = before.char_end - after.char_start
        assert (shared == 0) if before.heading_path != after.heading_path else (50 <= shared <= 100)
        assert document.text[after.char_start - 1] in "。\n" or shared == 0
        assert after.char_start > before.char_start


def test_no_chunk_crosses_a_heading() -> None:
    document = read("".join(f"第{n}章 题{n}\n短。\n" for n in range(1, 30)))
    assert len(document.chunks) == 29
    assert all(
        chunk.line_start == heading.line
        for chunk, heading in zip(document.chunks, document.headings, strict=True)
    )


def test_short_neighbours_under_one_heading_are_joined() -> None:
    document = read("第一章 甲\n" + "短句在此。\n\n" * 20)
    assert len(document.chunks) == 1


def test_a_rest_is_not_left_as_a_crumb() -> None:
    text = "".join(SENTENCE.format(n=10) + "\n" for n in range(18))
    assert min(len(chunk.body) for chunk in read(text).chunks) > 150


@pytest.mark.parametrize("limit", [120, 200, 480])
def test_a_chunk_with_its_path_never_exceeds_the_token_limit(limit: int) -> None:
    calls = []

    def count(text: str) -> int:
        calls.append(text)
        return len(text) + 2  # as bad as it can be: a token a character

    text = "手册\n\n第一章 很长的章名用来占去一些词元\n" + "".join(SENTENCE.format(n=n) for n in range(99))
    document = read(text, SplitOptions(max_tokens=limit, count_tokens=count))
    for chunk in document.chunks:
        assert count(" > ".join(("手册", *chunk.heading_path)) + "\n" + chunk.text) <= max(limit, 160)
    assert kept(document) == document.text


def test_tokens_are_counted_only_near_the_limit() -> None:
    calls = []

    def count(text: str) -> int:
        calls.append(text)
        return len(text) // 2

    read("短文在此。\n" * 30, SplitOptions(count_tokens=count))
    assert not calls


def test_the_bound_knows_every_character_that_grows() -> None:
    growing = [
        char
        for char in map(chr, range(0x110000))
        if not 0xD800 <= ord(char) < 0xE000 and len(unicodedata.normalize("NFKC", char)) > 1
    ]
    assert not [char for char in growing if not EXPANDING.match(char)]
    assert most_tokens("①㎡…") == len(unicodedata.normalize("NFKC", "①㎡…"))


def test_page_headers_stay_in_the_slice_and_leave_what_is_embedded() -> None:
    page = "Doe                    Informational                   [Page {n}]\n\f\nRFC 9999            A Format of Data             May 1996\n\n"
    words = ("field", "octet", "stream", "window", "header", "option", "buffer", "segment")
    text = "".join(
        f"Every {word} has a length.\nIt is given in the {word} itself, {n} times.\nA {word} may be empty.\n\n"
        + page.format(n=n)
        for n, word in enumerate(words, 1)
    )
    document = read(text)
    assert kept(document) == text
    assert document.headings == ()
    for chunk in document.chunks:
        assert "[Page" in chunk.body
        assert chunk.embed_text is not None
        assert "[Page" not in chunk.embed_text
        assert "RFC 9999" not in chunk.embed_text
        assert "\f" not in chunk.embed_text


def test_a_line_that_comes_again_between_ornaments_is_left_out_of_what_is_embedded() -> None:
    header = "—— 某某手册 · 热线 400-000-0000 ——"
    text = "".join(f"第{n}章 题目{n}\n这一章的正文写在这里。\n\n{header}\n\n" for n in range(1, 6))
    document = read(text)
    assert all(header in chunk.body and header not in (chunk.embed_text or "") for chunk in document.chunks)


def test_the_same_file_gives_the_same_ids_and_equal_chunks_differ() -> None:
    text = "第一章 甲\n" + "同样的话再说一遍。" * 200
    first, second = read(text), read(text)
    ids = [chunk.chunk_id for chunk in first.chunks]
    assert ids == [chunk.chunk_id for chunk in second.chunks]
    assert len(set(ids)) == len(ids)


def test_a_paragraph_that_comes_again_and_again_is_embedded_once_and_citable_everywhere() -> None:
    said = "操作之前必须断开总电源，并在开关上挂好禁止合闸的警示牌，由专人看守直到作业结束。"
    text = "".join(
        f"第{n}章 设备{n}\n设备{n}的检修按本章各条进行，不得省略任何一步。\n{said}\n" for n in range(1, 6)
    )
    document = read(text)
    assert all(said in chunk.body for chunk in document.chunks)
    assert [
        said in (chunk.body if chunk.embed_text is None else chunk.embed_text) for chunk in document.chunks
    ] == [True, False, False, False, False]
    alone = read("".join(f"第{n}章 设备{n}\n{said}\n" for n in range(1, 6)))
    assert all(chunk.embed_text is None for chunk in alone.chunks)
