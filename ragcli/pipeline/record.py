"""A turn as scripts see it: the contract's JSON, which is also what a session keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragcli.datatypes import Hit, Json, StoredChunk, chunk_name

# A turn lists at least this many hits, so that a script can look further than the passages shown.
LEAST_HITS = 10


@dataclass(frozen=True, slots=True)
class Citation:
    """The place that `[n]` in an answer stands for."""

    n: int
    stored: StoredChunk


def hit_json(hit: Hit, rank: int) -> Json:
    """Return a hit: its rank and score, where it stands, and its stored text as it is."""
    chunk = hit.stored.chunk
    return {
        "rank": rank,
        "score": round(hit.score, 4),
        "scores": {name: round(value, 4) for name, value in hit.scores.items()},
        "chunk_id": chunk_name(chunk.chunk_id),
        "kind": chunk.kind,
        "file": hit.stored.file,
        "heading_path": list(chunk.heading_path),
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
        "text": chunk.text,
        "shown": hit.shown,
    }


def citation_json(citation: Citation) -> Json:
    """Return the place of a citation."""
    chunk = citation.stored.chunk
    return {
        "n": citation.n,
        "chunk_id": chunk_name(chunk.chunk_id),
        "file": citation.stored.file,
        "heading_path": list(chunk.heading_path),
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
    }


def turn_json(
    *,
    session: str,
    turn: int,
    query: str,
    rewritten: Sequence[str],
    status: str,
    reason: str,
    action: str,
    answer: str,
    citations: Sequence[Citation],
    hits: Sequence[Hit],
    timings: Mapping[str, float],
    tokens: Mapping[str, int],
) -> Json:
    """Return the record of a turn. Times come in seconds and leave in milliseconds."""
    steps = ("rewrite", "retrieve", "prompt", "put_back", "evaluate", "first_token", "generate", "total")
    kinds = ("prompt", "evaluated", "put_back", "read_ahead", "completion", "rewriter_evaluated")
    return {
        "session": session,
        "turn": turn,
        "query": query,
        "rewritten": list(rewritten),
        "rewrite": {"status": status, "reason": reason},
        "action": action,
        "answer": answer,
        "citations": [citation_json(citation) for citation in citations],
        "hits": [hit_json(hit, rank) for rank, hit in enumerate(hits, 1)],
        "timings_ms": {step: round(timings.get(step, 0.0) * 1000, 1) for step in steps},
        "tokens": {kind: tokens.get(kind, 0) for kind in kinds},
    }
