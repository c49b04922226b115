"""Bytes into text: the right encoding, line ends, and what could not be read."""

import pytest

from ragcli.documents.decode import decode
from ragcli.errors import SourceUnreadable, UsageError
from tests.documents.reading import paths, read

TEXT = "第一章 启动\n先合上总闸，再按绿色按钮。\n第二章 停止\n先按红色按钮，再拉下总闸。\n"
TRADITIONAL = "第一章 啟動\n先合上總閘，再按綠色按鈕。這是說明書的內容，請仔細閱讀。\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "gb18030", "gbk", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "hz"]
)
def test_text_without_a_mark_is_read_exactly(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)).text == TEXT


@pytest.mark.parametrize("encoding", ["big5", "big5hkscs", "gb18030", "utf-16-le", "utf-8"])
def test_traditional_text_is_read_exactly(encoding: str) -> None:
    assert decode(TRADITIONAL.encode(encoding)).text == TRADITIONAL


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_enc4_a_mark_is_recognised_and_removed(encoding: str) -> None:
    document = read(TEXT.encode(encoding))
    assert document.text == TEXT
    assert paths(document) == [("第一章 启动",), ("第二章 停止",)]


def test_enc1_characters_outside_gbk_do_not_spoil_the_reading() -> None:
    text = "第一章 值班\n夜班组长㙍工每天七点前抄表。\n第二章 备件\n䶮字牌垫片放在二号柜。\n"
    document = read(text.encode("gb18030"))
    assert document.text == text
    assert paths(document) == [("第一章 值班",), ("第二章 备件",)]


@pytest.mark.parametrize(
    "text", ["维修记录单", "滤网型号见机身背面。\n", "早班 二月 李\n", "停泵五分钟后方可开门。\n", "值班表"]
)
def test_enc2_short_notes_are_chinese_and_no_other_language(text: str) -> None:
    assert decode(text.encode("gb18030")).text == text


@pytest.mark.parametrize("text", ["小时", "每页 3", "小学招生"])
def test_words_that_would_be_sound_as_utf8_too_are_chinese(text: str) -> None:
    assert decode(text.encode("gb18030")).text == text


@pytest.mark.parametrize("text", ["café résumé", "Привет, мир", "Größe: 5 Stück", "λόγος", "naïve"])
def test_other_scripts_in_utf8_stay_as_they_are(text: str) -> None:
    assert decode(text.encode()).text == text


def test_lin1_all_three_line_ends_give_the_same_text() -> None:
    for end in ("\r\n", "\r", "\n"):
        assert read(TEXT.replace("\n", end).encode()).text == TEXT
        assert read(TEXT.replace("\n", end).encode("gb18030")).text == TEXT


def test_form_feeds_and_line_separators_end_no_line() -> None:
    text = "甲\f乙\u2028丙\x85丁\n戊\n"
    assert decode(text.encode()).text == text
    assert read(text).chunks[-1].line_end == 2


def test_lin3_nul_bytes_go_and_the_words_around_them_join() -> None:
    decoded = decode("第一章 校准\n把旋\0钮转到\0零位。\n".encode())
    assert decoded.text == "第一章 校准\n把旋钮转到零位。\n"
    assert [(note.kind, note.fields["number"], note.warning) for note in decoded.notes] == [
        ("nul_bytes", 2, False)
    ]


def test_undecodable_bytes_stay_visible_and_are_named_by_byte_and_line() -> None:
    data = "第一行没有问题。\n第二行".encode() + b"\xff" + "坏了。\n".encode() * 3
    decoded = decode(data)
    assert decoded.text == "第一行没有问题。\n第二行\\xff坏了。\n坏了。\n坏了。\n"
    (note,) = decoded.notes
    assert (note.kind, note.line, note.warning) == ("undecodable_bytes", 2, True)
    assert note.fields["offset"] == data.index(b"\xff")


def test_a_damaged_byte_in_gbk_costs_that_byte_alone() -> None:
    data = bytearray((TEXT * 5).encode("gb18030"))
    place = len(TEXT.encode("gb18030")) * 2
    data[place:place] = b"\xff"
    decoded = decode(bytes(data))
    assert decoded.text == TEXT * 2 + "\\xff" + TEXT * 3
    assert decoded.notes[0].fields["offset"] == place
    assert decoded.notes[0].line == 9


def test_one_strange_character_does_not_turn_big5_into_gb18030() -> None:
    data = (TRADITIONAL * 3).encode("big5") + b"\xfe\xfe" + TRADITIONAL.encode("big5")
    decoded = decode(data)
    assert decoded.text.startswith(TRADITIONAL * 3)
    assert decoded.text.endswith(TRADITIONAL)


def test_utf8_cut_in_the_middle_of_a_character_is_utf8() -> None:
    decoded = decode((TEXT * 2).encode()[:-3])
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(TEXT)
    assert decoded.notes[0].warning


def test_a_western_text_is_read_where_no_chinese_reading_is_clean() -> None:
    text = "Le café est fermé à midi. Où est la clé ? Déjà prêt.\n"
    assert decode(text.encode("cp1252")).text == text


def test_private_use_characters_and_lone_surrogates_do_no_harm() -> None:
    assert decode("字\ue0a1符\n".encode("gb18030")).text == "字\ue0a1符\n"
    decoded = decode("\ufeff字a".encode("utf-16-le") + b"\x00\xd8" + "b字字".encode("utf-16-le"))
    assert decoded.text == "字a\\ud800b字字"
    assert decoded.notes[0].warning


def test_the_given_encoding_is_taken() -> None:
    assert decode("中文".encode("big5"), "big5").text == "中文"
    assert decode(TEXT.encode("utf-8-sig"), "utf-8").text == TEXT
    with pytest.raises(UsageError, match="unknown_encoding"):
        decode(b"abc", "klingon")


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n" + b"x" * 50,
        b"PK\x03\x04" + bytes(60),
        bytes(range(256)) * 4,
        b"\x7fELF" + bytes(90),
        b"\x01\x02\x03\x04text\x05\x06" * 9,
    ],
)
def test_a_binary_file_is_refused(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="binary_file"):
        decode(data)


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\xef\xbb\xbf", "\u3000\n\u200b\n".encode(), b"\xff\xfe"])
def test_fil3_a_file_without_a_word_has_no_text(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="no_text"):
        read(data)
