"""Bad cases: turns that went wrong, kept with what would have been right until somebody exports or drops them.

They stand in the sessions' private file, since they are somebody's conversation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ragcli.datatypes import Json
from ragcli.storage.database import database_errors, transaction
from ragcli.storage.sessions import Sessions


@dataclass(frozen=True, slots=True)
class SavedCase:
    """A kept case: its number, when it was kept, and what it holds."""

    number: int
    at: float
    body: Json


def add_case(sessions: Sessions, at: float, body: Json) -> int:
    """Keep a case; return its number."""
    with transaction(sessions.connection, sessions.path):
        cursor = sessions.connection.execute(
            "INSERT INTO badcases (at, body) VALUES (?, ?)", (at, json.dumps(body, ensure_ascii=False))
        )
    return int(cursor.lastrowid or 0)


def saved_cases(sessions: Sessions) -> list[SavedCase]:
    """Return all kept cases, in the order in which they were kept."""
    with database_errors(sessions.path):
        rows = sessions.connection.execute("SELECT id, at, body FROM badcases ORDER BY id").fetchall()
    return [SavedCase(row["id"], row["at"], json.loads(row["body"])) for row in rows]


def drop_case(sessions: Sessions, number: int) -> bool:
    """Take a case away; return whether it was there."""
    with transaction(sessions.connection, sessions.path):
        return sessions.connection.execute("DELETE FROM badcases WHERE id = ?", (number,)).rowcount > 0
