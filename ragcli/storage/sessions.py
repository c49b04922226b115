"""Conversations: one row a turn, with the answer given, the steps that led to it and the state after it.

The state of the last whole turn is where a session goes on; a damaged row is set aside and the one before
is taken, so that a session reopens at turn n or n-1 and never at a mixture. The file is private (0600).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.datatypes import Json
from ragcli.errors import Damaged
from ragcli.storage.database import database_errors, open_database, transaction

MIGRATIONS = (
    """
    CREATE TABLE turns (
        session TEXT NOT NULL, turn INTEGER NOT NULL, at REAL NOT NULL, query TEXT NOT NULL, record TEXT NOT NULL,
        trace TEXT NOT NULL, state TEXT NOT NULL, sha256 BLOB NOT NULL, PRIMARY KEY (session, turn)) WITHOUT ROWID;
    CREATE TABLE profile (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE badcases (id INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL);
    """,
)


@dataclass(frozen=True, slots=True)
class SavedTurn:
    """A turn as it was given: `record` is the JSON that scripts got, `trace` its steps, `state` what follows."""

    session: str
    turn: int
    at: float
    query: str
    record: Json
    trace: Json
    state: Json


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list: its turns, when it was last used, and its first question."""

    session: str
    turns: int
    at: float
    first: str


class Sessions:
    """The open `sessions.sqlite` of a base."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = open_database(path, MIGRATIONS, create=True, private=True)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def save_turn(self, turn: SavedTurn) -> None:
        """Keep a turn; the same number again replaces nothing and is refused by the caller."""
        parts = [json.dumps(part, ensure_ascii=False) for part in (turn.record, turn.trace, turn.state)]
        with transaction(self.connection, self.path):
            self.connection.execute(
                "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (turn.session, turn.turn, turn.at, turn.query, *parts, _digest(turn.query, *parts)),
            )

    def last_turn(self, session: str) -> tuple[SavedTurn | None, int]:
        """Return the newest whole turn of a session, and how many damaged ones had to be passed over."""
        damaged = 0
        for row in self._rows("SELECT * FROM turns WHERE session = ? ORDER BY turn DESC", session):
            turn = _turn(row)
            if turn:
                return turn, damaged
            damaged += 1
        return None, damaged

    def turn(self, session: str, number: int) -> SavedTurn | None:
        """Return one turn of a session, checked."""
        for row in self._rows("SELECT * FROM turns WHERE session = ? AND turn = ?", session, number):
            turn = _turn(row)
            if turn is None:
                raise Damaged("damaged_turn", path=self.path, session=session, turn=number)
            return turn
        return None

    def turns(self, session: str) -> list[SavedTurn]:
        """Return a session's whole turns, in order."""
        rows = self._rows("SELECT * FROM turns WHERE session = ? ORDER BY turn", session)
        return [turn for turn in map(_turn, rows) if turn]

    def drop_turns_after(self, session: str, number: int) -> None:
        """Take the turns after a number out of a session: they were damaged, or are answered anew."""
        with transaction(self.connection, self.path):
            self.connection.execute("DELETE FROM turns WHERE session = ? AND turn > ?", (session, number))

    def overview(self) -> list[SessionInfo]:
        """Return all sessions, last used first."""
        rows = self._rows(
            "SELECT session, count(*) AS n, max(at) AS at, (SELECT query FROM turns f WHERE f.session = t.session "
            "ORDER BY turn LIMIT 1) AS first FROM turns t GROUP BY session ORDER BY max(at) DESC, session"
        )
        return [SessionInfo(row["session"], row["n"], row["at"], row["first"]) for row in rows]

    def remove(self, session: str) -> int:
        """Drop a session; return how many turns it had."""
        with transaction(self.connection, self.path):
            return self.connection.execute("DELETE FROM turns WHERE session = ?", (session,)).rowcount

    def forget_traces(self, before: float) -> int:
        """Empty the steps of turns older than a time; the answers stay. Returns how many were emptied."""
        old = [
            turn
            for row in self._rows("SELECT * FROM turns WHERE at < ? AND trace != '{}'", before)
            if (turn := _turn(row))
        ]
        for turn in old:
            self.save_turn(
                SavedTurn(turn.session, turn.turn, turn.at, turn.query, turn.record, {}, turn.state)
            )
        return len(old)

    def profile(self) -> dict[str, str]:
        """Return the standing preferences."""
        return {row["key"]: row["value"] for row in self._rows("SELECT key, value FROM profile ORDER BY key")}

    def set_profile(self, key: str, value: str | None) -> None:
        """Set a standing preference, or take it away with None."""
        with transaction(self.connection, self.path):
            if value is None:
                self.connection.execute("DELETE FROM profile WHERE key = ?", (key,))
            else:
                self.connection.execute("INSERT OR REPLACE INTO profile VALUES (?, ?)", (key, value))

    def _rows(self, sql: str, *values: object) -> Sequence[sqlite3.Row]:
        with database_errors(self.path):
            return self.connection.execute(sql, values).fetchall()


def _turn(row: sqlite3.Row) -> SavedTurn | None:
    if _digest(row["query"], row["record"], row["trace"], row["state"]) != row["sha256"]:
        return None
    return SavedTurn(
        row["session"], row["turn"], row["at"], row["query"],
        json.loads(row["record"]), json.loads(row["trace"]), json.loads(row["state"]),
    )  # fmt: skip


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).digest()
