"""Cases over two small manuals, and turns as they come out of a run."""

import json

import pytest

from ragcli.evaluation.cases import Case, CaseTurn, Evidence
from ragcli.evaluation.outcome import Outcome

MANUAL = (
    "甲型净化机说明书\n\n第一章 概述\n本机额定功率 40 W，水箱容量 3 L。\n\n"
    "第二章 保养\n滤芯每六个月更换一次，更换后按住复位键五秒。\n"
)
POLICY = "差旅制度\n\n第一章 总则\n出差须提前两天申请。\n\n第二章 报销\n报销单在回程后五天内交财务。\n"


def turn(query, *, evidence=(), expect="answer", **more):
    return {
        "query": query,
        "rewrite": query,
        "evidence": [{"file": file, "text": text} for file, text in evidence],
        "answer_has": [["六个月"]],
        "answer_not": [],
        "expect": expect,
        "kind": ["standalone"],
        **more,
    }


CASES = [
    {
        "id": "C1",
        "lang": "zh",
        "turns": [
            turn("甲型净化机的滤芯多久更换", evidence=[("净化机.txt", "滤芯每六个月更换一次")]),
            turn(
                "它的水箱多大",
                evidence=[("净化机.txt", "水箱容量 3 L")],
                kind=["pronoun"],
                rewrite="甲型净化机的水箱多大",
            ),
        ],
    },
    {
        "id": "C2",
        "lang": "zh",
        "turns": [turn("报销单几天内交财务", evidence=[("差旅.txt", "报销单在回程后五天内")])],
    },
    {"id": "C3", "lang": "zh", "turns": [turn("食堂几点开门", expect="not_found")]},
]


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def measured(ragcli):
    """Return a command line with documents and cases in its folder, and no base."""
    ragcli.environ["XDG_CACHE_HOME"] = str(ragcli.folder / "cache")
    ragcli.write("set/docs/净化机.txt", MANUAL)
    ragcli.write("set/docs/差旅.txt", POLICY)
    ragcli.write("set/cases.jsonl", lines(CASES))
    return ragcli


def hit(file, text, kind="text", chunk="1"):
    return {"file": file, "text": text, "kind": kind, "chunk_id": chunk}


def outcome(hits=(), evidence=(("a.txt", "甲乙丙丁戊己"),), name="c", number=1, **turn_fields):
    record = turn_fields.pop("record", {})
    items = tuple(Evidence(file, (text,)) for file, text in evidence)
    one = CaseTurn(number, turn_fields.pop("query", "问"), evidence=items, **turn_fields)
    return Outcome(
        Case(name, "zh", (one,), "g"),
        one,
        {"hits": list(hits), "action": "answer", "rewritten": ["问"], **record},
    )


def ragcli_lines(text):
    return [json.loads(row) for row in text.splitlines()]
