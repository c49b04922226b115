"""Write a character map as SentencePiece's precompiled charsmap, so that both forms of the model read text alike.

Layout: u32 byte length of a double-array trie, its u32 units, then the replacements, each ended by a NUL. Units are
those of darts-clone: bits 0-7 the label, bit 8 "has a leaf", bit 9 and 10-30 the offset, bit 31 marks a value.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_LEAF = 1 << 8
_WIDE = 1 << 9
_VALUE = 1 << 31
_NARROW_OFFSETS = 1 << 21


@dataclass(slots=True)
class _Node:
    """A trie node: its children by byte, and its value if a key ends here."""

    children: dict[int, _Node] = field(default_factory=dict)
    value: int | None = None


def charsmap(characters: Mapping[int, tuple[int, ...]]) -> bytes:
    """Return the charsmap that reads each code point as the given ones."""
    root, texts, places = _Node(), bytearray(), dict[str, int]()
    for code, read_as in sorted(characters.items()):
        text = "".join(map(chr, read_as))
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        node = root
        for byte in chr(code).encode():
            node = node.children.setdefault(byte, _Node())
        node.value = places[text]
    units = _double_array(root)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(texts)


def _double_array(root: _Node) -> list[int]:
    """Return the trie's units: a child with label c of a node based at b stands at b ^ c."""
    units: dict[int, int] = {0: 0}
    taken_bases: set[int] = {0}
    open_nodes = [(0, root)]
    low = 1
    while open_nodes:
        place, node = open_nodes.pop()
        labels = sorted(node.children) if node.value is None else [0, *sorted(node.children)]
        if not labels:
            continue
        base = _free_base(labels, units, taken_bases, low)
        taken_bases.add(base)
        units[place] |= _offset_bits(place ^ base) | (_LEAF if node.value is not None else 0)
        if node.value is not None:
            units[base] = _VALUE | node.value
        for label, child in node.children.items():
            units[base ^ label] = label
            open_nodes.append((base ^ label, child))
        while low in units:
            low += 1
    # Whole blocks of 256: a reader that goes from a base to any byte then stays inside.
    size = -(-(max(units) + 1) // 256) * 256
    return [units.get(place, 0) for place in range(size)]


def _free_base(labels: list[int], units: dict[int, int], taken: set[int], low: int) -> int:
    place = low
    while True:
        base = place ^ labels[0]
        if place not in units and base not in taken and all((base ^ label) not in units for label in labels):
            return base
        place += 1


def _offset_bits(offset: int) -> int:
    if offset < _NARROW_OFFSETS:
        return offset << 10
    if offset & 0xFF:
        raise ValueError(f"an offset of {offset} doesn't fit a unit")
    return offset >> 8 << 10 | _WIDE
