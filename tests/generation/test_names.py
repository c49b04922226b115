from ragcli.generation.names import codes, of_a_sibling, of_its_own, without_codes


def test_codes_however_they_are_spaced():
    assert codes("AB-300、ab 300 与 ＡＢ３００") == {("ab", "300")}
    assert codes("压力 0.4 MPa，长 15 mm，2025 年") == set()


def test_the_siblings_passages_leave(make_passage):
    own, sibling, general = (
        make_passage(1, "容量 2 升。", "锅CX-10.txt"),
        make_passage(2, "容量 3 升。", "锅CX-20.txt"),
        make_passage(3, "用软布擦拭。", "保养.txt"),
    )
    every = [sibling, own, general]
    assert of_its_own("CX-10 的容量", every) == [own, general]
    assert of_its_own("CX-10 和 CX-20 哪个大", every) == every
    assert of_its_own("锅的容量", every) == every
    assert of_its_own("CX-30 的容量", every) == every


def test_a_question_lends_its_code_to_a_sentence_without(make_passage):
    sibling = make_passage(2, "容量 3 升。", "锅CX-20.txt")
    assert of_a_sibling("容量 3 升。", sibling, "CX-10 的容量")
    assert not of_a_sibling("CX-20 的容量 3 升。", sibling, "CX-10 的容量")


def test_known_codes_leave_a_text():
    assert without_codes("CX-10 重 12 公斤，200 元", {("cx", "10")}).split() == [
        "重",
        "12",
        "公斤、200",
        "元",
    ]
