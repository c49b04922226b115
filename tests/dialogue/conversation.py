"""A small base's names, and a way to hold a conversation over them without a search."""

import unicodedata
from datetime import date

from ragcli.datatypes import Chunk, Hit, StoredChunk, Term, Vocabulary
from ragcli.dialogue.events import apply
from ragcli.dialogue.lexicon import build_lexicon
from ragcli.dialogue.outcome import turn_done
from ragcli.dialogue.reading import DEFAULTS
from ragcli.dialogue.state import empty_state
from ragcli.dialogue.understand import understand

TODAY = date(2025, 2, 3)
BASE = Vocabulary(
    (
        Term("QF-20", "name", (), ("qf20.txt",)),
        Term("QF-50", "name", (), ("qf50.txt",)),
        Term("加湿器滤芯", "row", (), ("qf20.txt", "qf50.txt")),
        Term("滤芯", "heading", (), ("qf20.txt", "qf50.txt")),
        Term("保养周期", "heading", (), ("qf20.txt", "qf50.txt")),
        Term("城北店", "row", (), ("shops.txt",)),
        Term("河滨店", "row", (), ("shops.txt",)),
        Term("木棉画廊", "name", (), ("gallery.txt",)),
        Term("青石剧场", "name", (), ("theatre.txt",)),
        Term("押金", "heading", (), ("rooms.txt", "cards.txt")),
        Term("书房租用办法", "name", (), ("rooms.txt",)),
        Term("借书证办理须知", "name", (), ("cards.txt",)),
    )
)


def fold(text):
    return unicodedata.normalize("NFKC", text).lower()


LEXICON = build_lexicon(BASE, fold)


def hit(chunk_id, file, text="", path=(), kind="text", score=1.0):
    chunk = Chunk(chunk_id, tuple(path), kind, text or f"passage {chunk_id}", 1, 1, 0, 1)
    return Hit(StoredChunk(chunk, file, ""), score, {})


def read(state, query, mode="rules", model=None, lexicon=LEXICON, options=DEFAULTS):
    return understand(state, query, lexicon, mode=mode, model=model, fold=fold, today=TODAY, options=options)


def step(state, query, answer="", hits=(), action="answer", pending=None):
    reading = read(state, query)
    done = turn_done(state, reading, LEXICON, action=action, answer=answer, hits=hits, pending=pending)
    return apply(state, done), reading


def converse(*turns):
    """Hold a conversation; a turn is a question or a (question, answer) pair. Return the state and readings."""
    state, readings = empty_state(), []
    for turn in turns:
        query, answer = turn if isinstance(turn, tuple) else (turn, "")
        state, reading = step(state, query, answer)
        readings.append(reading)
    return state, readings
