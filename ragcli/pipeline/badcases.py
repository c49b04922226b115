"""Bad cases of a base: keep a saved turn with what would have been right, list them, take them out again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ragcli.datatypes import Json
from ragcli.errors import UsageError
from ragcli.evaluation.badcases import FORMS, bad_case, exported
from ragcli.evaluation.cases import EXPECTS
from ragcli.pipeline.base import KnowledgeBase, conversations
from ragcli.pipeline.contents import find_place
from ragcli.storage.badcases import add_case, drop_case, saved_cases
from ragcli.storage.sessions import Sessions

_EVIDENCE_CHARS = (6, 40)


@dataclass(frozen=True, slots=True)
class Right:
    """What would have been right, as far as somebody said so; `passage` is FILE:LINE or a chunk's id."""

    rewrite: str = ""
    answer: str = ""
    passage: str = ""
    expect: str = ""
    note: str = ""


def keep(base: KnowledgeBase, sessions: Sessions, session: str, turn: int, right: Right, at: float) -> int:
    """Keep a saved turn as a bad case; return the case's number."""
    if right.expect and right.expect not in EXPECTS:
        raise UsageError(
            "bad_option",
            option="--expect",
            value=right.expect,
            wanted=" | ".join(EXPECTS),
            command="badcase add",
        )
    turns = [saved for saved in sessions.turns(session) if saved.turn <= turn]
    if not turns or turns[-1].turn != turn:
        raise UsageError("no_such_turn", session=session, turn=turn)
    told: Json = {name: getattr(right, name) for name in ("rewrite", "answer", "expect", "note")}
    told = {name: value for name, value in told.items() if value}
    if right.passage:
        told["evidence"] = [evidence_at(base, right.passage)]
    body = bad_case([saved.record for saved in turns], turns[-1].trace, told, sessions.profile())
    return add_case(sessions, at, body)


def evidence_at(base: KnowledgeBase, place: str) -> Json:
    """Return the text at FILE:LINE, or a chunk's first line that holds enough, as evidence."""
    found = find_place(base, place)
    number = place.rpartition(":")[2]
    shortest, longest = _EVIDENCE_CHARS
    lines = {int(line): str(text).strip() for line, text in found["lines"]}
    named = [lines[int(number)]] if number.isdigit() and int(number) in lines else []
    text = next((text for text in (*named, *lines.values()) if len(text) >= shortest), "")
    if not text:
        raise UsageError("no_evidence_there", place=place, least=shortest)
    return {"file": PurePath(str(found["file"])).name, "text": text[:longest].strip()}


def listed(base: KnowledgeBase) -> list[Json]:
    """Return the kept cases, a row each."""
    with conversations(base) as sessions:
        rows = saved_cases(sessions)
    return [
        {
            "case": row.number,
            "at": row.at,
            "query": row.body["turns"][-1]["query"],
            "rewritten": row.body["turns"][-1]["rewritten"],
            "action": row.body["turns"][-1]["action"],
            "right": row.body["right"],
        }
        for row in rows
    ]


def removed(base: KnowledgeBase, number: int) -> None:
    """Drop a kept case."""
    with conversations(base) as sessions:
        if not drop_case(sessions, number):
            raise UsageError("no_such_badcase", number=number)


def export(base: KnowledgeBase, form: str) -> tuple[str, int]:
    """Return the kept cases as JSON lines in one form, and how many lack what the form needs."""
    if form not in FORMS:
        raise UsageError(
            "bad_option", option="--as", value=form, wanted=" | ".join(FORMS), command="badcase export"
        )
    with conversations(base) as sessions:
        return exported(form, [(row.number, row.body) for row in saved_cases(sessions)])


def cases_of(base: KnowledgeBase) -> bytes:
    """Return the kept cases as a file of cases."""
    text, _ = export(base, "cases")
    if not text:
        raise UsageError("no_badcases")
    return text.encode("utf-8", "replace")
