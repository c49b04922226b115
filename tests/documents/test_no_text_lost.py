"""Whatever a text is made of: chunks cover it, equal their slices, keep its order; reading never crashes."""
# ruff: noqa: E501  (texts stand here as they are read)

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcli.datatypes import Document, SplitOptions
from ragcli.documents.decode import Decoded, decode
from ragcli.documents.read import read_document, split_text
from ragcli.errors import SourceUnreadable
from tests.documents.reading import kept

SETTINGS = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
    "derandomize": True,
}
PIECES = st.sampled_from(
    [
        "第一章 总则", "第二章总则", "第三章", "第1节 目的", "一、概况", "（二）人员", "1. 开机", "1.1 接线", "1.2.3 参数", "2 安装",
        "第一条 为了规范管理，制定本办法。", "第二条所称期限，以公告为准。", "附录A 表", "【说明】", "Chapter 1", "CHAPTER II: ROAD",
        "目录", "Contents", "====", "----", "~~~~", "| 甲 | 乙 |", "|---|---|", "| 1 | 2 |", "+--+--+", "名\t值\t注", "甲\t1\tx",
        "项目      数值     条件", "功率      65 W     高", "净重      8 kg     无", "a,b,c", "1,2,3", "├── 树", "┌──┬──┐", "│ 甲 │ 乙 │",
        "—— 手册 · 热线 400 ——", "第 3 页", "- 7 -", "\f", "", "", "   ", "\u3000\u3000", "\ufeff", "\u200b第四章 零宽",
        "这是一句正文，说明办法。再说一句！还有吗？有的；", "没有标点的一行文字" * 9, "水" * 700, "x" * 600, "字。" * 300, "a b " * 200,
        "Q1: 怎样？", "*1.1*\t移动", "<篇名>上品", "○总名", "移 动 光 标", "注意事项", "前言", "NAME", "2024.08 起改用。", "192.168.1.1 是网关。",
        "\u2028", "\x85", "\x00", "👩‍👩‍👧‍👦" * 60, "e\u0301" * 300, "㎡…①" * 50, "\x1b[31m红\x1b[0m", "\ue0a1",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=18).map("\n".join)
OPTIONS = st.sampled_from(
    [
        SplitOptions(),
        SplitOptions(min_chars=40, max_chars=80, overlap_chars=20, table_max_chars=120),
        SplitOptions(overlap_chars=0),
        SplitOptions(max_tokens=100, count_tokens=len),
        SplitOptions(count_tokens=lambda text: len(text) // 2),
    ]
)


def check(document: Document, options: SplitOptions) -> None:
    assert kept(document) == document.text
    starts = [chunk.char_start for chunk in document.chunks]
    assert starts == sorted(starts)
    assert len({chunk.chunk_id for chunk in document.chunks}) == len(document.chunks)
    total = document.text.count("\n") + (not document.text.endswith("\n"))
    assert {n for c in document.chunks for n in range(c.line_start, c.line_end + 1)} == set(
        range(1, total + 1)
    )
    borders = {heading.line for heading in document.headings} | {
        article.line for article in document.articles
    }
    for chunk in document.chunks:
        assert not borders & set(range(chunk.line_start + 1, chunk.line_end + 1))
        assert len(chunk.text) <= max(options.max_chars, options.table_max_chars)
        assert document.text.count("\n", 0, chunk.char_start) + 1 == chunk.line_start


def attempt(call):
    """What the call gives, or the kind of its refusal."""
    try:
        return call()
    except SourceUnreadable as err:
        return err.kind


@settings(max_examples=1200, **SETTINGS)
@given(TEXTS, OPTIONS)
def test_generated_texts_are_kept_whole(text: str, options: SplitOptions) -> None:
    document = attempt(lambda: split_text(Decoded(text, "utf-8"), "f", options))
    if document != "no_text":
        check(document, options)


@settings(max_examples=400, **SETTINGS)
@given(st.text(max_size=1500), OPTIONS)
def test_any_text_is_kept_whole(text: str, options: SplitOptions) -> None:
    document = attempt(lambda: split_text(Decoded(text.replace("\r", "\n"), "utf-8"), "f", options))
    if document != "no_text":
        check(document, options)


@settings(max_examples=400, **SETTINGS)
@given(
    TEXTS,
    st.sampled_from(["utf-8", "gb18030", "big5", "utf-16", "utf-16-le", "hz"]),
    st.integers(0, 2**32),
    st.integers(1, 6),
)
def test_damaged_files_are_read_or_refused(text: str, encoding: str, seed: int, times: int) -> None:
    source = random.Random(seed)
    data = bytearray(text.encode(encoding, "ignore"))
    for _ in range(times):
        place = source.randrange(len(data) + 1)
        data[place : place + source.choice((0, 0, 1, 3))] = source.randbytes(source.choice((0, 1, 2)))
    document = attempt(lambda: read_document(bytes(data), "f", SplitOptions()))
    if document not in ("no_text", "binary_file"):
        check(document, SplitOptions())


@settings(max_examples=300, **SETTINGS)
@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "gb18030", "utf-16", "big5", "hz", "ascii"]))
def test_any_bytes_are_read_or_refused(data: bytes, encoding: str | None) -> None:
    decoded = attempt(lambda: decode(data, encoding))
    if decoded != "binary_file":
        assert not set("\x00\r") & set(decoded.text)
        decoded.text.encode()
