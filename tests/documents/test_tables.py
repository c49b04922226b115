"""Which runs of lines are tables, that they stay whole, and that long ones are cut between rows alone."""
# ruff: noqa: E501  (texts stand here as they are read)

from itertools import pairwise

import pytest

from ragcli.datatypes import SplitOptions
from tests.documents.reading import kept, read

TABLES = {
    "pipes": ("费用如下：\n| 项目 | 价格 |\n|---|---|\n| 甲 | 12 元 |\n| 乙 | 15 元 |\n以上含税。\n", (2, 5)),
    "pipes at the sides left out": (
        "项目 | 价格 | 备注\n--- | --- | ---\n甲 | 12 | 无\n乙 | 15 | 无\n",
        (1, 4),
    ),
    "tabs": ("见下表。\n门店\t一月\t二月\n东店\t182\t215\n南店\t126\t109\n\n完。\n", (2, 4)),
    "blanks, wide characters": (
        "参数表\n\n项目          数值        条件\n净水流量      1.3 L/min   25℃\n额定功率      65 W        制水时\n净重          8.6 kg      不含包装\n说明文字。\n",
        (3, 6),
    ),
    "blanks, two columns": ("附表\n名称      数量\n螺钉      20\n垫圈      15\n弹簧垫    8\n", (2, 5)),
    "numbers set to the right": (
        "表\nitem      count    price\nscrew        20     1.50\nwasher      150    12.00\nnut           8   100.25\n",
        (2, 5),
    ),
    "a frame of + and -": (
        "+----+------+\n| 号 | 名称 |\n+----+------+\n| 1  | 泵   |\n+----+------+\n| 2  | 阀门 |\n+----+------+\n文字。\n",
        (1, 7),
    ),
    "a frame of line characters": (
        "┌────┬──────┐\n│ 名 │ 说明 │\n├────┼──────┤\n│ 甲 │ 第一 │\n│ 乙 │ 第二 │\n└────┴──────┘\n",
        (1, 6),
    ),
    "a rule under the header": (
        "   软件      版本      地址\n   ──────────────────────────\n   Python    3.11      python.org\n   Node      20        nodejs.org\n",
        (1, 4),
    ),
    "commas": ("Time,Bid,Ask\n15:01,1.08,1.09\n15:02,1.07,1.08\n15:03,1.06,1.07\n15:04,1.05,1.06\n", (1, 5)),
    "a cell that goes on": (
        "键\t作用\t说明\nh\t左\t移动一列\nl\t右\t移动一列\n\t\t\t（亦可用方向键）\nj\t下\t移动一行\n",
        (1, 5),
    ),
    "cells that go on below their column": (
        "名称      说明                数量\n水泵      立式，用于循环      2\n          管路加压\n阀门      球阀                4\n",
        (1, 4),
    ),
    "merged cells": (
        "区域    门店    数量\n华东    上海    12\n        杭州    8\n华北    北京    20\n        天津    5\n完。\n",
        (1, 5),
    ),
    "a row of bars over two lines": (
        "| 名称 | 说明 |\n|---|---|\n| 水泵 | 立式\n用于循环 |\n| 阀门 | 球阀 |\n",
        (1, 5),
    ),
    "full-width blanks": ("名称　数量　单价\n螺钉　２０　１．５\n垫圈　１５　０．８\n", (1, 3)),
    "a comment between rows": (
        "code\tplace\tnote\nAD\tAndorra\tx\n# moved in 1970\nAE\tDubai\ty\nAF\tKabul\tz\n",
        (1, 5),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_table_of(name: str) -> None:
    text, lines = TABLES[name]
    document = read(text)
    assert [(table.first_line, table.last_line) for table in document.tables] == [lines]
    whole = [chunk for chunk in document.chunks if chunk.kind == "table"]
    assert len(whole) == 1
    assert whole[0].line_start <= lines[0]
    assert whole[0].line_end >= lines[1]
    assert kept(document) == text


NO_TABLES = {
    "justified prose": "There  are a lot of enhancements above it: multi level undo, multi win-\ndows  and buffers,  syntax highlighting, command line  editing,  file name\ncompletion,   on-line   help,   visual  selection,  and so on.  Look at the\nhelp  text  for a summary of the differences between the two of them here.\n",
    "sentences with two blanks between": "It is here.  We saw it.\nThey left.  He stayed.\nShe came.  All went.\nIt rained.  We ran.\n",
    "code": "x    = 1;\nlong = 2;\ny    = 3;\nif (x) {  y = 2; }\n",
    "a tree": "项目\n├── 源码\n│   ├── 甲\n│   └── 乙\n└── 文档\n",
    "verse in two halves": "白日依山尽　　黄河入海流\n欲穷千里目　　更上一层楼\n",
    "indented paragraphs": "　　第一段说的是春天的事情。\n　　第二段说的是夏天的事情。\n　　第三段说的是秋天的事情。\n",
    "articles": "　　第一条　为了规范管理，制定本办法。\n　　第二条　本办法适用于全体员工。\n　　第三条　本办法由人事部解释。\n",
    "key and value": "编制：运营组    口径：人次\n截止：六月三十日    下期：十月\n",
    "comments": "#\tTITLE\n#\tsome words about the list\n#\tmore words about the list\n#\tlast words\n",
    "a numbered list with tabs": "1.\t打开电源\n2.\t按下开关\n3.\t等待灯亮\n",
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_no_table_in(name: str) -> None:
    document = read(NO_TABLES[name])
    assert document.tables == ()
    assert kept(document) == document.text


def long_table(rows: int) -> str:
    lines = [f"| K{row:02d} | 含义{row} | 处理办法第{row}号 | {row * 3} 分钟 |" for row in range(1, rows + 1)]
    return (
        "第二章 代码\n下表列出全部代码。\n\n| 代码 | 含义 | 处理 | 时限 |\n|---|---|---|---|\n"
        + "\n".join(lines)
        + "\n\n表后：K07 以外可自行处理。\n"
    )


def test_tab1_a_long_table_is_cut_between_rows_and_each_piece_has_its_header() -> None:
    document = read(long_table(70))
    pieces = [chunk for chunk in document.chunks if chunk.kind == "table"]
    assert len(pieces) > 1
    for piece in pieces:
        assert "| 代码 | 含义 | 处理 | 时限 |\n|---|---|---|---|\n" in piece.text
        assert all(line.count("|") == 5 for line in piece.text.splitlines() if "|" in line)
        assert len(piece.text) <= 1200
    assert [piece.header != "" for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert [later.line_start - before.line_end for before, later in pairwise(pieces)] == [1] * (
        len(pieces) - 1
    )
    assert pieces[0].text.startswith("下表列出全部代码。")
    assert kept(document) == document.text


def test_tab1_a_table_that_fits_is_one_chunk_with_the_sentence_that_introduces_it() -> None:
    document = read(long_table(10))
    (piece,) = (chunk for chunk in document.chunks if chunk.kind == "table")
    assert piece.body.startswith("下表列出全部代码。")
    assert "| K10 |" in piece.body
    assert "表后" not in piece.body


def test_tab2_a_frame_whose_bars_do_not_line_up_is_one_table_even_where_chunks_are_small() -> None:
    text = "第一章 件\n+----+--------+----+\n| 号 | 名称        | 数 |\n+----+--------+----+\n| 1  | 密封圈     | 12 |\n+----+--------+----+\n| 2  | V形带 rubber   | 4  |\n+----+--------+----+\n领用登记。\n"
    document = read(text, SplitOptions(min_chars=40, max_chars=80, overlap_chars=10))
    (piece,) = (chunk for chunk in document.chunks if chunk.kind == "table")
    assert all(words in piece.text for words in ("| 号 | 名称", "密封圈", "V形带 rubber"))
    assert kept(document) == text


def test_a_single_row_longer_than_any_chunk_is_cut_between_cells() -> None:
    text = "\t".join(f"列{n}" for n in range(3000)) + "\n" + "\t".join(f"{n}" for n in range(3000)) + "\n"
    document = read(text)
    assert max(len(chunk.text) for chunk in document.chunks) <= 1200
    assert kept(document) == text


def test_a_rule_under_the_header_belongs_to_it() -> None:
    document = read(
        "Name        Qty   Price\n----------  ----  -----\nScrew       20    1.5\nWasher      15    0.8\n"
    )
    assert [(table.first_line, table.last_line, table.header_lines) for table in document.tables] == [
        (1, 4, 2)
    ]


def test_rows_are_not_headings() -> None:
    text = "一、清单\n\n序号  名称    数量\n1     水泵    2\n2     阀门    4\n3     管道    6\n\n二、说明\n以上。\n"
    document = read(text)
    assert [heading.text for heading in document.headings] == ["一、清单", "二、说明"]
    assert [(table.first_line, table.last_line) for table in document.tables] == [(3, 6)]
