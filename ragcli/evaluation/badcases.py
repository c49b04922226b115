"""What a bad case holds, without the person's profile, and the three forms that it leaves in.

`cases` are conversations that `eval` reads; `fewshot` are examples for the rewriting prompt, in the form of the
built-in ones; `train` are pairs of a conversation and its complete question to tune a rewriter with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragcli.datatypes import Json
from ragcli.evaluation.cases import EXPECTS

FORMS = ("cases", "fewshot", "train")
REDACTED = "▇"
_SHORTEST = 2
_TRACED = (
    "query",
    "gate",
    "state",
    "candidates",
    "queries",
    "entities",
    "wishes",
    "below",
    "decision",
    "answer",
)


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Return a JSON value with every secret text in it replaced; keys stay.

    >>> redacted({"a": ["用 JS-500 的人"]}, ["JS-500"])
    {'a': ['用 ▇ 的人']}
    """
    hidden = [text for text in secrets if len(text) >= _SHORTEST]
    if isinstance(value, str):
        for text in hidden:
            value = value.replace(text, REDACTED)
        return value
    if isinstance(value, Mapping):
        return {key: redacted(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item, hidden) for item in value]
    return value


def bad_case(turns: Sequence[Json], trace: Json, right: Json, profile: Mapping[str, str]) -> Json:
    """Return a bad case: the turns up to the wrong one, how that came about, and what would have been right.

    `turns` are records, the wrong one last; `right` may hold `rewrite`, `answer`, `evidence`, `expect`, `note`.
    Who asked is nobody's affair: the profile's layer goes, and its values wherever they were repeated in the steps.
    What was typed stays as it was typed.
    """
    kept = {name: trace[name] for name in _TRACED if name in trace}
    state = {name: value for name, value in kept.get("state", {}).items() if name != "profile"}
    return {
        "turns": [_turn(record) for record in turns],
        "trace": redacted(kept | {"state": state}, profile.values()),
        "right": dict(right),
    }


def _turn(record: Json) -> Json:
    hits = [
        {name: hit[name] for name in ("rank", "score", "file", "heading_path", "line_start", "line_end")}
        for hit in record.get("hits", ())
    ]
    names = ("query", "rewritten", "rewrite", "action", "answer", "citations")
    return {name: record.get(name) for name in names} | {"hits": hits}


def as_case(number: int, body: Json) -> Json:
    """Return a bad case as a case to measure with: the turns before it are asked and not judged."""
    turns, right = body["turns"], body["right"]
    asked = [
        {
            "query": turn["query"],
            "expect": turn["action"] if turn["action"] in EXPECTS else "answer",
            "judge": False,
        }
        for turn in turns[:-1]
    ]
    wrong: Json = {
        "query": turns[-1]["query"],
        "rewrite": right.get("rewrite", ""),
        "evidence": right.get("evidence", []),
        "answer_has": [[right["answer"]]] if right.get("answer") else [],
        "expect": right.get("expect") or "answer",
    }
    return {"id": f"bad-{number}", "turns": [*asked, wrong]}


def as_example(body: Json) -> Json | None:
    """Return a bad case as an example of rewriting; None where nobody said what the complete question is."""
    right, turns = body["right"], body["turns"]
    if not right.get("rewrite"):
        return None
    said = [{"user": turn["query"], "assistant": turn.get("answer") or ""} for turn in turns[:-1]]
    return {"history": said, "query": turns[-1]["query"], "rewrite": right["rewrite"]}


def as_pair(body: Json) -> Json | None:
    """Return a bad case as a pair to tune a rewriter with, its wrong rewrite beside the right one."""
    example = as_example(body)
    if example is None:
        return None
    return example | {"rejected": " ".join(body["turns"][-1].get("rewritten") or ())}


def exported(form: str, cases: Iterable[tuple[int, Json]]) -> tuple[str, int]:
    """Return kept cases as JSON lines in one of the forms, and how many had to be left out."""
    rows: list[Json | None] = []
    for number, body in cases:
        rows.append(
            as_case(number, body)
            if form == "cases"
            else as_example(body)
            if form == "fewshot"
            else as_pair(body)
        )
    kept = [json.dumps(row, ensure_ascii=False) for row in rows if row is not None]
    return "".join(f"{row}\n" for row in kept), len(rows) - len(kept)
