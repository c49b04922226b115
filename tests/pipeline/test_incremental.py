"""What a base holds after files came, changed, moved and went."""

import shutil

import pytest

from tests.doubles import HashEmbedder


def texts(ragcli, query: str, *more: str) -> list[tuple[str, str]]:
    outcome = ragcli("search", query, "--json", *more)
    assert outcome.code in (0, 4)
    return [(hit["file"], hit["text"]) for hit in outcome.json["hits"]]


@pytest.fixture
def low(ragcli):
    """A command line that drops no hit for its score: these tests are about what is there."""
    ragcli.environ["RAGCLI_RETRIEVAL_THRESHOLD"] = "0"
    return ragcli


def test_inc1_a_removed_file_is_gone_and_a_renamed_one_is_cited_by_its_new_name(low) -> None:
    low.write("docs/one.txt", "线路表\n\n甲线的额定电流是二百安。\n")
    low.write("docs/two.txt", "代号表\n\n乙线的代号叫作海鸥。\n")
    low.built("docs")
    (low.folder / "docs/two.txt").unlink()
    (low.folder / "docs/one.txt").rename(low.folder / "docs/three.txt")
    report = low("sync", "docs", "--json").json
    assert report["files"]["removed"] == 2
    assert report["files"]["removed_names"] == ["one.txt", "two.txt"]
    for _ in range(2):
        low("sync", "docs")
    assert not [text for _, text in texts(low, "代号海鸥") if "海鸥" in text]
    found = texts(low, "甲线的额定电流")
    assert [file for file, text in found if "二百安" in text] == ["three.txt"]


def test_a_renamed_file_keeps_its_vectors_where_its_title_stays(low) -> None:
    low.write("docs/one.txt", "线路表\n\n甲线的额定电流是二百安。\n")
    low.write("docs/two.txt", "代号表\n\n乙线的代号叫作海鸥。\n")
    low.built("docs")
    (low.folder / "docs/one.txt").rename(low.folder / "docs/three.txt")
    assert low("sync", "docs", "--json").json["vectors"]["computed"] == 0


def test_inc2_a_file_that_became_shorter_or_empty_keeps_nothing_old(low) -> None:
    low.write(
        "docs/m.txt", "第一章 四月\n产量五十一。\n第二章 五月\n产量六十二。\n第三章 六月\n产量七十三。\n"
    )
    low.built("docs")
    low.write("docs/m.txt", "第一章 四月\n产量五十一。\n")
    low("sync", "docs")
    assert not [text for _, text in texts(low, "六月产量") if "七十三" in text or "六十二" in text]
    low.write("docs/m.txt", "")
    report = low("sync", "docs", "--json").json
    assert report["files"]["skipped"][0]["file"] == "m.txt"
    assert low("search", "四月产量").code in (4, 10)


def test_inc5_the_same_paragraph_in_two_files_is_embedded_once_and_citable_from_both(low) -> None:
    shared = "安全须知\n\n开机之前必须戴好手套并扎紧袖口。\n"
    low.write("docs/x.txt", shared)
    low.write("docs/y.txt", shared)
    low.write("docs/z.txt", "其他\n\n食堂每天十一点开门。\n")
    low.built("docs")
    assert len(low.embedder.texts) == 2
    (low.folder / "docs/x.txt").unlink()
    low("sync", "docs")
    assert [file for file, text in texts(low, "开机之前要戴什么") if "手套" in text] == ["y.txt"]


def test_inc5_six_copies_do_not_push_another_passage_out(low) -> None:
    for number in range(6):
        low.write(f"docs/c{number}.txt", "须知\n\n打磨时请戴护目镜。\n")
    low.write("docs/other.txt", "存放\n\n护目镜存放在工具间的第二个抽屉。\n")
    low.built("docs")
    assert any("抽屉" in text for _, text in texts(low, "护目镜", "-k", "4"))


def test_a_folder_that_lost_most_of_its_files_is_refused_until_it_is_meant(low) -> None:
    for number in range(4):
        low.write(f"docs/{number}.txt", f"题{number}\n\n内容是第{number}号文件的文字。\n")
    low.built("docs")
    for number in range(3):
        (low.folder / f"docs/{number}.txt").unlink()
    refused = low("sync", "docs")
    assert refused.code == 2
    assert "--prune" in refused.err
    assert low("status", "--json").json["files"] == 4
    assert low("sync", "docs", "--prune", "--json").json["files"]["removed"] == 3


def test_fil3_a_file_without_text_is_named_and_the_others_work(low) -> None:
    low.write("docs/good.txt", "油温\n\n油温不得超过八十度。\n")
    low.write("docs/empty.txt", "")
    low.write("docs/blank.txt", " \n\t\n\n")
    low.write("docs/bom.txt", b"\xef\xbb\xbf")
    low("init")
    outcome = low("sync", "docs")
    assert outcome.code == 0
    assert all(name in outcome.err for name in ("empty.txt", "blank.txt", "bom.txt"))
    assert "八十度" in low("search", "油温上限").out


def test_fil3_a_base_of_nothing_but_empty_files_has_nothing_to_search(low) -> None:
    low.write("docs/empty.txt", "")
    low("init")
    low("sync", "docs")
    assert low("ask", "油温上限是多少").code == 10


def test_an_ingest_that_was_not_indexed_is_said_to_be_stale(low) -> None:
    low.write("docs/a.txt", "一\n\n第一个文件的文字在这里。\n")
    low.built("docs")
    low.write("docs/b.txt", "二\n\n第二个文件的文字在那里。\n")
    low("ingest", "docs")
    assert "ragcli index" in low("search", "文字").err
    assert low("status", "--json").json["index"]["stale"] is True


def test_inc3_another_model_gets_vectors_of_its_own_and_going_back_costs_nothing(low) -> None:
    low.write("docs/a.txt", "水\n\n每周换水一次。\n")
    low.built("docs")
    first = low.embedder
    low.embedder = HashEmbedder("other")
    refused = low("search", "多久换水")
    assert refused.code == 10
    assert "hash" in refused.err
    assert "other" in refused.err
    assert low("sync", "docs", "--json").json["vectors"]["computed"] == 1
    assert low("search", "多久换水").code == 0
    low.embedder = first
    assert low("sync", "docs", "--json").json["vectors"]["computed"] == 0


def test_idx1_an_index_of_another_width_is_refused_with_both_widths(low) -> None:
    low.write("docs/a.txt", "油\n\n每季换油一次。\n")
    low.embedder = HashEmbedder("narrow", 40)
    low.built("docs")
    low.embedder = HashEmbedder("wide", 50)
    refused = low("search", "多久换油")
    assert refused.code == 10
    assert "40" in refused.err
    assert "50" in refused.err


def test_idx3_a_damaged_index_is_named_and_rebuilt_from_the_store(low) -> None:
    low.write("docs/a.txt", "钥匙\n\n甲柜的钥匙是绿色的。\n")
    low.built("docs")
    folder = next((low.folder / "kb/data/index").glob("rev-*"))
    for path in [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        refused = low("search", "甲柜钥匙")
        assert refused.code == 12, path
        assert "check --repair" in refused.err
        assert not refused.out
        path.write_bytes(whole)
    shutil.rmtree(folder / "lexical")
    assert low("check").code == 12
    assert low("check", "--repair").code == 0
    assert "绿色" in low("search", "甲柜钥匙").out


def test_idx5_a_base_and_files_with_blanks_and_chinese_names_work(low) -> None:
    low.environ["RAGCLI_KB"] = str(low.folder / "库 甲/索引 (一)")
    low.write("资料 (试)/说明 一.txt", "门禁\n\n门禁密码每月更换。\n")
    low.built("资料 (试)")
    assert texts(low, "门禁密码多久更换")[0][0] == "说明 一.txt"


def test_a_base_moved_as_a_folder_still_answers(low) -> None:
    low.write("docs/a.txt", "门禁\n\n门禁密码每月更换。\n")
    low.built("docs")
    (low.folder / "kb").rename(low.folder / "moved")
    low.environ["RAGCLI_KB"] = str(low.folder / "moved")
    assert texts(low, "门禁密码")


def test_a_batch_that_was_committed_is_never_computed_again(low, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        low.write(f"docs/{number}.txt", f"题{number}\n\n{'字' * number}第{number}个文件的内容各不相同。\n")
    low("init")
    low("ingest", "docs")
    real, calls = HashEmbedder.embed_passages, []

    def dies(self, batch):
        calls.append(len(batch))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, batch)

    monkeypatch.setattr(HashEmbedder, "embed_passages", dies)
    assert low("embed", "--batch-size", "2").code == 130
    assert low("status", "--json").json["vectors"]["done"] == 4
    assert low("embed", "--batch-size", "2", "--json").json["vectors"]["computed"] == 6


def test_vectors_that_are_not_numbers_are_recorded_and_tried_again_when_asked(
    low, monkeypatch: pytest.MonkeyPatch
) -> None:
    low.write("docs/a.txt", "门禁\n\n门禁密码每月更换。\n")
    low.write("docs/b.txt", "饮水\n\n饮水机每周清洗。\n")
    low("init")
    low("ingest", "docs")
    real = HashEmbedder.embed_passages

    def broken(self, batch):
        rows = real(self, batch)
        rows[[n for n, text in enumerate(batch) if "饮水" in text]] = float("nan")
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(HashEmbedder, "embed_passages", broken)
        outcome = low("embed", "--json")
    assert (outcome.code, outcome.json["vectors"]["failed"]) == (3, 1)
    assert low("index").code == 0
    assert texts(low, "门禁密码")[0][0] == "a.txt"
    assert low("embed", "--retry-failed", "--json").json["vectors"] == {
        "computed": 1,
        "cached": 1,
        "failed": 0,
    }


def test_reading_several_files_at_a_time_gives_the_same_base(low) -> None:
    for number in range(6):
        low.write(f"docs/{number}.txt", f"题{number}\n\n第{number}个文件的内容各不相同。\n")
    states = []
    for jobs in ("1", "3"):
        low.environ["RAGCLI_KB"] = str(low.folder / f"kb{jobs}")
        low("init")
        assert low("ingest", "docs", "--jobs", jobs, "--json").json["files"]["added"] == 6
        low("embed")
        low("index")
        states.append([hit["chunk_id"] for hit in low("search", "内容", "--json", "-k", "6").json["hits"]])
    assert states[0] == states[1]


def test_text_from_stdin_is_a_file_of_the_base(low, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    low("init")
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO("门禁\n\n门禁密码每月更换。\n".encode()), "utf-8")
    )
    assert low("sync", "-", "--json").json["files"]["added"] == 1
    assert texts(low, "门禁密码")[0][0] == "stdin.txt"


def test_an_index_of_another_version_is_refused_and_made_anew(low, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragcli.pipeline import index, searcher

    low.write("docs/a.txt", "门禁\n\n门禁密码每月更换。\n")
    low.built("docs")
    for module in (index, searcher):
        monkeypatch.setattr(module, "INDEX_VERSION", 99)
    refused = low("search", "门禁密码")
    assert refused.code == 10
    assert "ragcli index" in refused.err
    assert low("index", "--json").json["index"]["unchanged"] is False
    assert low("search", "门禁密码").code == 0


def test_a_folder_without_text_files_is_said_to_hold_none(low) -> None:
    low("init")
    (low.folder / "docs").mkdir()
    low.write("docs/scan.pdf", b"%PDF-1.4")
    outcome = low("sync", "docs")
    assert outcome.code == 2
    assert "*.txt" in outcome.err.splitlines()[-1]
