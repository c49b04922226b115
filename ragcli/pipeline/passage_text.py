"""What the embedder reads for a chunk."""

from __future__ import annotations

from collections.abc import Sequence


def passage_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """Return the chunk's text under its document title and heading path, each once.

    >>> passage_text("手册", ("第一章 安装", "一、接线"), "先断电。")
    '手册 > 第一章 安装 > 一、接线\\n先断电。'
    """
    path = list(dict.fromkeys(part.strip() for part in (title, *heading_path) if part.strip()))
    return f"{' > '.join(path)}\n{text.strip()}" if path else text.strip()
