from ragcli.generation.citations import Numbering, split_marks


def test_marks_are_taken_off_and_unknown_ones_dropped():
    assert split_marks("容量两升 [2]。", {1, 2}) == ("容量两升。", (2,))
    assert split_marks("容量两升[1,3]【2】［9］", {1, 2, 3}) == ("容量两升", (1, 3, 2))


def test_numbers_are_new_and_without_gaps():
    numbering = Numbering()
    assert numbering.marked("甲。", [4]) == "甲 [1]。"
    assert numbering.marked("乙。\n", [7, 4]) == "乙 [1][2]。\n"
    assert numbering.marked("丙。", []) == "丙。"
    assert numbering.order == [4, 7]
