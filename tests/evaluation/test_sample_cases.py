"""The sample documents, their outline and the conversations about them agree, and cover every kind."""

import importlib.util
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_docs"

spec = importlib.util.spec_from_file_location("check_cases", ROOT / "scripts" / "check_cases.py")
check_cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_cases)


@pytest.fixture
def copied(tmp_path):
    return Path(shutil.copytree(SAMPLES, tmp_path / "docs"))


def read_cases(folder):
    return [json.loads(row) for row in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def write_cases(folder, cases):
    rows = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    (folder / "cases.jsonl").write_text(rows, encoding="utf-8")


def test_shipped_samples_agree_with_each_other():
    assert list(check_cases.problems(SAMPLES)) == []


def test_shipped_cases_cover_every_kind_expectation_and_file():
    cases = read_cases(SAMPLES)
    turns = [turn for case in cases for turn in case["turns"]]
    assert len(cases) >= 50
    assert Counter(case["lang"] for case in cases)["zh"] >= 40
    assert {kind for turn in turns for kind in turn["kind"]} == check_cases.KINDS
    assert {turn["expect"] for turn in turns} == check_cases.EXPECTS
    cited = {entry["file"] for turn in turns for entry in turn["evidence"]}
    assert cited == {path.name for path in SAMPLES.glob("*.txt")}


def test_shipped_documents_show_both_encodings_and_a_table_longer_than_a_chunk():
    outlines = json.loads((SAMPLES / "headings.json").read_text(encoding="utf-8"))
    assert {meta["encoding"] for meta in outlines.values()} == set(check_cases.CODECS)
    assert max(t["last_line"] - t["first_line"] for meta in outlines.values() for t in meta["tables"]) > 40
    assert all(4000 <= path.stat().st_size <= 12_288 for path in SAMPLES.glob("*.txt"))


BREAKAGES = {
    "evidence occurs 0 times": lambda turn: turn["evidence"][0].update(text="这里没有这句话"),
    "evidence must be 6 to 40 characters": lambda turn: turn["evidence"][0].update(text="水箱\n数值与单位"),
    "no file": lambda turn: turn["evidence"][0].update(file="别的.txt"),
    "empty group": lambda turn: turn["answer_has"].append([]),
    "unknown expect": lambda turn: turn.update(expect="guess"),
    "unknown or no kind": lambda turn: turn.update(kind=["standalone", "riddle"]),
    "standalone": lambda turn: turn.update(kind=["time"]),
    "fields missing or unknown": lambda turn: turn.pop("rewrite"),
    "evidence belongs to answer": lambda turn: turn.update(evidence=[]),
}


@pytest.mark.parametrize("message", BREAKAGES)
def test_a_broken_turn_is_named_by_line_case_and_turn(copied, message):
    cases = read_cases(copied)
    BREAKAGES[message](cases[0]["turns"][0])
    write_cases(copied, cases)
    found = list(check_cases.problems(copied))
    assert all(line.startswith(f"cases.jsonl:1: {cases[0]['id']}.1: ") for line in found)
    assert message in found[0]


def test_a_repeated_id_and_a_broken_line_are_named(copied):
    rows = (copied / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    (copied / "cases.jsonl").write_text("\n".join([*rows, rows[0], "{"]) + "\n", encoding="utf-8")
    found = list(check_cases.problems(copied))
    assert [line.split(": ")[0] for line in found] == [
        f"cases.jsonl:{len(rows) + 1}",
        f"cases.jsonl:{len(rows) + 2}",
    ]


def test_a_moved_heading_a_lost_mark_and_a_short_table_are_named(copied):
    path = copied / "headings.json"
    outlines = json.loads(path.read_text(encoding="utf-8"))
    marked = next(name for name, meta in outlines.items() if meta["encoding"] == "utf-8 with BOM")
    outlines[marked]["headings"][3]["line"] += 1
    outlines[marked]["tables"][0]["first_line"] -= 1
    path.write_text(json.dumps(outlines, ensure_ascii=False), encoding="utf-8")
    (copied / marked).write_bytes((copied / marked).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    found = list(check_cases.problems(copied))
    assert len(found) == 3
    assert all(line.startswith(marked) for line in found)


def test_main_exits_with_1_and_prints_to_stderr(copied, monkeypatch, capsys):
    write_cases(copied, read_cases(copied)[:1] * 2)
    monkeypatch.setattr("sys.argv", ["check_cases.py", str(copied)])
    assert check_cases.main() == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "cases.jsonl:2" in printed.err
