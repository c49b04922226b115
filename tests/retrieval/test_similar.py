"""Copies step back; editions and siblings don't."""

from ragcli.retrieval.similar import copies_last

TEXT = "进入车间必须佩戴护目镜，长发应当塞进帽子，袖口应当扎紧，不得戴手套操作旋转的机器。"


def test_copies_go_behind_everything_else():
    assert copies_last([TEXT, TEXT, "别的事", TEXT]) == [0, 2, 1, 3]


def test_blanks_and_marks_make_no_difference():
    assert copies_last([TEXT, TEXT.replace("，", " , "), "别的事"]) == [0, 2, 1]


def test_another_number_is_another_passage():
    assert copies_last([TEXT + "型号kd310", TEXT + "型号kd320", "别的事"]) == [0, 1, 2]


def test_short_and_empty_texts_are_fine():
    assert copies_last(["", "a", "b", ""]) == [0, 1, 2, 3]
