"""Lines of case files into cases: the three forms, what each may hold, and what is wrong with a line.

A form that ragcli itself defines is read strictly: a field that it doesn't know is a slip of somebody's. The
other two come from public sets with fields of their own, which are passed over.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragcli.evaluation.cases import EXPECTS, KINDS, Case, CaseSet, CaseTurn, Evidence, Form, Pairs, Problem

_CASE_FIELDS = ("id", "lang", "turns")
_TURN_FIELDS = ("query", "rewrite", "evidence", "answer_has", "answer_not", "expect", "kind", "judge")
_EVIDENCE_FIELDS = ("file", "text", "alt")
_OPEN = {"UNANSWERABLE", "UNDERSPECIFIED"}
_ODD = re.compile(r"[^\w.-]")


class _Wrong(Exception):
    """A line can't be read as a case."""

    def __init__(self, kind: str, **fields: object) -> None:
        super().__init__(kind)
        self.kind, self.fields = kind, fields


def read_set(files: Mapping[str, bytes]) -> tuple[CaseSet, list[Problem]]:
    """Return the cases of some files by name, and every problem; ids are unique within a file."""
    digest, problems = hashlib.sha256(), []
    cases: list[Case] = []
    forms: dict[Form, str] = {}
    for name, data in files.items():
        digest.update(data)
        kind, found, wrong = _read_file(name, data)
        problems += wrong
        cases += found
        if kind:
            forms.setdefault(kind, name)
    if len(forms) > 1:
        problems.append(Problem(next(iter(files)), 0, "case_two_forms", {"files": ", ".join(forms.values())}))
    if not cases and not problems:
        problems.append(Problem(", ".join(files), 0, "case_none"))
    form: Form = next(iter(forms), "documents")
    return CaseSet(form, tuple(cases), digest.hexdigest(), tuple(files)), problems


def _read_file(name: str, data: bytes) -> tuple[Form | None, list[Case], list[Problem]]:
    form: Form | None = None
    cases: list[Case] = []
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    group = name.rsplit("/", 1)[-1].removesuffix(".jsonl")
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            row = _object(raw)
            form = form or _form_of(row)
            case = replace(_CASES[form](row, group), line=number)
            if case.name in lines:
                raise _Wrong("case_same_id", id=case.name, first=lines[case.name])
        except _Wrong as wrong:
            problems.append(Problem(name, number, wrong.kind, wrong.fields))
            continue
        lines[case.name] = number
        cases.append(case)
    return form, cases, problems


def _object(raw: bytes) -> dict[str, Any]:
    try:
        row = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as err:
        raise _Wrong("case_bad_json", reason=str(err)) from err
    if not isinstance(row, dict):
        raise _Wrong("case_not_object")
    return row


def _form_of(row: Mapping[str, Any]) -> Form:
    turns = row.get("turns")
    if turns is None and "gold" in row:
        return "rewriting"
    if isinstance(turns, list) and any(isinstance(turn, dict) and "gold_ids" in turn for turn in turns):
        return "corpus"
    return "documents"


# ---------------------------------------------------------------- checks


def _check_fields(row: Mapping[str, Any], known: Sequence[str], needed: Sequence[str], place: str) -> None:
    for name in row:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise _Wrong("case_unknown_field", field=name, place=place, nearest=near[0] if near else known[0])
    for name in needed:
        if name not in row:
            raise _Wrong("case_missing_field", field=name, place=place)


def _text(row: Mapping[str, Any], name: str, place: str, *, empty: bool = False) -> str:
    value = row.get(name, "")
    if value is None and empty:
        return ""
    if not isinstance(value, str) or not (empty or value.strip()):
        raise _Wrong("case_bad_value", field=name, place=place, wanted="text")
    return value


def _texts(row: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _Wrong("case_bad_value", field=name, place=place, wanted="a list of texts")
    return tuple(value)


def _choice(value: object, known: Sequence[str], name: str, place: str) -> str:
    if value not in known:
        raise _Wrong("case_bad_value", field=name, place=place, wanted=" | ".join(known))
    return str(value)


def _turns(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    turns = row.get("turns")
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, dict) for turn in turns):
        raise _Wrong("case_bad_value", field="turns", place="the case", wanted="a list of turns")
    return turns


# ---------------------------------------------------------------- conversations about documents


def _about_documents(row: Mapping[str, Any], group: str) -> Case:
    _check_fields(row, _CASE_FIELDS, ("id", "turns"), "the case")
    turns = tuple(_document_turn(turn, number) for number, turn in enumerate(_turns(row), 1))
    return Case(_text(row, "id", "the case"), _text(row, "lang", "the case", empty=True), turns, group)


def _document_turn(turn: Mapping[str, Any], number: int) -> CaseTurn:
    place = f"turn {number}"
    _check_fields(turn, _TURN_FIELDS, ("query", "expect"), place)
    groups = turn.get("answer_has", [])
    if not isinstance(groups, list) or not all(isinstance(item, list) and item for item in groups):
        raise _Wrong("case_bad_value", field="answer_has", place=place, wanted="a list of lists of texts")
    kinds = _texts(turn, "kind", place)
    for kind in kinds:
        _choice(kind, KINDS, "kind", place)
    expect = _choice(turn["expect"], EXPECTS, "expect", place)
    evidence = _evidence(turn, place)
    return CaseTurn(
        number,
        _text(turn, "query", place),
        _text(turn, "rewrite", place, empty=True),
        evidence,
        tuple(_texts({"answer_has": item}, "answer_has", place) for item in groups),
        _texts(turn, "answer_not", place),
        expect,
        kinds,
        judged=turn.get("judge", True) is not False,
    )


def _evidence(turn: Mapping[str, Any], place: str) -> tuple[Evidence, ...]:
    entries = turn.get("evidence", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _Wrong("case_bad_value", field="evidence", place=place, wanted="a list of {file, text}")
    found = []
    for entry in entries:
        _check_fields(entry, _EVIDENCE_FIELDS, ("file", "text"), f"{place}, evidence")
        others = entry.get("alt", [])
        if not isinstance(others, list) or not all(isinstance(item, dict) for item in others):
            raise _Wrong("case_bad_value", field="alt", place=place, wanted="a list of {text}")
        wordings = [_text(item, "text", place) for item in (entry, *others)]
        found.append(Evidence(_text(entry, "file", place), tuple(wordings)))
    return tuple(found)


# ---------------------------------------------------------------- conversations over a corpus


def _over_corpus(row: Mapping[str, Any], group: str) -> Case:
    said: list[tuple[str, str]] = []
    before: tuple[str, ...] | None = None
    turns = []
    for number, turn in enumerate(_turns(row), 1):
        query = _text(turn, "query", f"turn {number}")
        right = _texts(turn, "gold_ids", f"turn {number}")
        history = tuple(said)
        if "messages" in row:
            history = paired(_texts_of(row["messages"])[: int(turn.get("turn", 0))])
        elif "history" in turn:
            history = paired([str(item.get("text", "")) for item in turn["history"]])
        turns.append(
            CaseTurn(
                number, query, _text(turn, "gold_rewrite", f"turn {number}", empty=True),
                expect="not_found" if not right or _OPEN & set(turn.get("answerability") or ()) else "answer",
                history=history, documents=tuple(map(file_stem, right)),
                moved=before is not None and not set(right) & set(before),
            )
        )  # fmt: skip
        said.append((query, str(turn.get("answer") or "")))
        before = right
    return Case(_text(row, "id", "the case"), "", tuple(turns), group)


def _texts_of(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Wrong("case_bad_value", field="messages", place="the case", wanted="a list of texts")
    return value


def paired(messages: Sequence[str]) -> Pairs:
    """Return messages as (user, assistant) pairs, the last of them an answer; the first user may be empty."""
    padded = [""] * (len(messages) % 2) + list(messages)
    return tuple((padded[n], padded[n + 1]) for n in range(0, len(padded), 2))


# ---------------------------------------------------------------- questions with a reference rewrite


def _to_rewrite(row: Mapping[str, Any], group: str) -> Case:
    history = row.get("history", [])
    if not isinstance(history, list) or not all(isinstance(item, str) for item in history):
        raise _Wrong("case_bad_value", field="history", place="the case", wanted="a list of texts")
    roles = row.get("history_roles")
    pairs = (
        by_roles(history, roles)
        if isinstance(roles, list) and len(roles) == len(history)
        else paired(history)
    )
    turn = CaseTurn(
        len(pairs) + 1, _text(row, "query", "the case"), _text(row, "gold", "the case"), history=pairs
    )
    return Case(_text(row, "id", "the case"), "", (turn,), group)


def by_roles(messages: Sequence[str], roles: Sequence[object]) -> Pairs:
    """Return messages as (user, assistant) pairs by who said each; one that nobody answered has an empty answer."""
    pairs: list[tuple[str, str]] = []
    for text, role in zip(messages, roles, strict=True):
        if role == "assistant":
            user = pairs.pop()[0] if pairs and not pairs[-1][1] else ""
            pairs.append((user, text))
        else:
            pairs.append((text, ""))
    return tuple(pairs)


_CASES = {"documents": _about_documents, "corpus": _over_corpus, "rewriting": _to_rewrite}


def file_stem(document: str) -> str:
    """Return the name that a corpus's document has as a file, without its ending."""
    return _ODD.sub("_", document)


def same_texts(data: bytes) -> dict[str, tuple[str, ...]]:
    """Return, for each document of a corpus by its file's name, those with exactly its text."""
    rows = [json.loads(raw) for raw in data.split(b"\n") if raw.strip()]
    alike: dict[str, list[str]] = {}
    for row in rows:
        alike.setdefault(row["text"], []).append(file_stem(str(row["id"])))
    return {name: tuple(names) for names in alike.values() for name in names}


def corpus_documents(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the (id, text) of a corpus file's documents, the title as a first line where the text lacks it."""
    for raw in data.split(b"\n"):
        if raw.strip():
            row = json.loads(raw)
            title, text = row.get("title") or "", row["text"]
            yield str(row["id"]), text if not title or text.startswith(title) else f"{title}\n\n{text}"
