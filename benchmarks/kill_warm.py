"""Kill `warm` at random moments and look at what it left: nothing half, nothing read twice.

`python benchmarks/kill_warm.py BASE [--chunks 200] [--kills 20] [--model NAME]` works in BASE's own states folder,
which it empties first: give it a copy. Each state that a run finished must be whole and must never be written again;
then one bit is flipped in each, each is cut, and each is offered to another model and another build: none may be used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from ragcli.generation import state
from ragcli.storage.files import remove


def main() -> None:
    """Kill, go on, and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct")
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    folder = args.base / "data" / "states"
    remove(folder)
    chance = random.Random(args.seed)
    seen: dict[str, int] = {}
    kills = 0
    while len(passages(folder)) < args.chunks and kills < args.kills + 200:
        warm = subprocess.Popen(
            [sys.executable, "-m", "ragcli", "--kb", str(args.base), "-q", "warm"],
            env={**os.environ, "RAGCLI_GENERATION_MODEL": args.model},
            start_new_session=True,
        )
        before, until = len(passages(folder)), chance.uniform(0.2, 2.0) * args.chunks / args.kills
        while warm.poll() is None and len(passages(folder)) - before < until:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.4))
        warm.send_signal(signal.SIGKILL)
        warm.wait()
        kills += 1
        for path in passages(folder):
            inode = path.stat().st_ino
            assert whole(path.read_bytes()), f"{path}: half a state"
            assert seen.setdefault(path.name, inode) == inode, f"{path}: read twice"
    print(f"{kills} kills, {len(seen)} passages: none half, none read twice")
    print(f"damaged or foreign: {sum(used(path.read_bytes(), chance) for path in passages(folder))} used")


def passages(folder: Path) -> list[Path]:
    """Return the states of passages that are in place."""
    return sorted(folder.glob("passage-*.state"))


def whole(data: bytes) -> bool:
    """Tell whether a state is what its checksum says."""
    return data[8:40] == hashlib.sha256(data[40:]).digest()


def used(data: bytes, chance: random.Random) -> int:
    """Return how many of a state's damaged and foreign forms would be used."""
    size = int.from_bytes(data[40:44], "little")
    head = json.loads(data[44 : 44 + size])
    key, tokens = head["key"], head["tokens"]
    assert state.unpack(data, key, tokens)
    flipped = bytearray(data)
    flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    offered = (
        state.unpack(bytes(flipped), key, tokens),
        state.unpack(data[: chance.randrange(len(data))], key, tokens),
        state.unpack(data, state.key_of("another model", "build") + key[64:], tokens),
        state.unpack(data, state.key_of("model", "another build") + key[64:], tokens),
    )
    return sum(cells is not None for cells in offered)


if __name__ == "__main__":
    main()
