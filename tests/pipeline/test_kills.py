"""SIGKILL at random moments of embed and index: nothing is lost, at most a batch is computed twice, all is the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "killing.py"
BATCH = 4
# A few in the fast layer; benchmarks/kills.py makes thirty with the real model.
KILLS = int(os.environ.get("RAGCLI_TEST_KILLS", "3"))
TEXTS = 48


@dataclass
class Killable:
    """Runs ragcli as a process of its own in one base, and kills it."""

    folder: Path

    @property
    def log(self) -> Path:
        return self.folder / "embedded.log"

    def start(self, *argv: str) -> subprocess.Popen:
        environ = {
            "HOME": str(self.folder), "RAGCLI_KB": str(self.folder / "kb"), "KILLING_LOG": str(self.log),
            "RAGCLI_UI_LANGUAGE": "en", "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1",
            "RAGCLI_RETRIEVAL_THRESHOLD": "0",
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), *argv], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __call__(self, *argv: str) -> bytes:
        process = self.start(*argv)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
        return out

    def kill_after(self, seconds: float, *argv: str) -> bool:
        """Kill a command that was started so long ago; return whether it was still running."""
        process = self.start(*argv)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        return process.returncode == -signal.SIGKILL

    def computed(self) -> int:
        return sum(map(int, self.log.read_text().split())) if self.log.exists() else 0

    def manifest(self) -> dict:
        path = max((self.folder / "kb/data/index").glob("rev-*")) / "manifest.json"
        return json.loads(path.read_bytes())

    def seconds_of(self, *argv: str) -> float:
        started = time.monotonic()
        self(*argv)
        return time.monotonic() - started


def made(folder: Path) -> Killable:
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for number in range(TEXTS):
        (docs / f"{number:02}.txt").write_text(
            f"题{number}\n\n第{number}个文件{'字' * number}各不相同。\n", "utf-8"
        )
    killable = Killable(folder)
    killable("init")
    killable("ingest", str(docs))
    return killable


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A base that nothing happened to, and how long its commands take."""
    base = made(tmp_path_factory.mktemp("unbroken"))
    embed = base.seconds_of("embed", "--batch-size", str(BATCH))
    return base, embed, base.seconds_of("index")


@pytest.mark.timeout(240)
def test_f02_kills_while_embedding_cost_at_most_a_batch_each(unbroken, tmp_path):
    whole, embed, _ = unbroken
    base, source, met = made(tmp_path), random.Random(4), 0
    for _ in range(KILLS):
        before = base.computed()
        hit = base.kill_after(source.uniform(embed * 0.3, embed * 1.02), "embed", "--batch-size", str(BATCH))
        met += hit and base.computed() > before
    base("embed", "--batch-size", str(BATCH))
    assert base.computed() <= TEXTS + BATCH * met
    base("index")
    assert base.manifest() == whole.manifest()
    base("check")


@pytest.mark.timeout(240)
def test_f03_kills_while_indexing_leave_the_old_index_or_the_new_one(unbroken, tmp_path):
    whole, _, index = unbroken
    base, source = made(tmp_path), random.Random(5)
    base("embed")
    for _ in range(KILLS):
        base.kill_after(source.uniform(index * 0.3, index * 1.02), "index")
        base("check")
    base("index")
    base("check")
    assert {**base.manifest(), "digest": ""} == {**whole.manifest(), "digest": ""}
    assert base("search", "第7个文件")
    assert not list((base.folder / "kb/data/index").glob(".ragcli-tmp-*"))


@pytest.mark.timeout(120)
def test_sync_runs_as_cron_runs_it_and_a_killed_holder_blocks_nobody(tmp_path):
    base = made(tmp_path)
    bare = {name: os.environ[name] for name in ("PATH",)} | {
        "LC_ALL": "C", "RAGCLI_KB": str(tmp_path / "kb"), "KILLING_LOG": str(base.log),
    }  # fmt: skip
    command = [sys.executable, str(SCRIPT), "sync", str(tmp_path / "docs"), "-q"]
    holder = base.start("embed", "--batch-size", "1")
    while not base.computed():
        time.sleep(0.001)
    holder.send_signal(signal.SIGSTOP)  # it holds the lock for as long as the test wants
    locked = subprocess.run(command, env=bare, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert locked.returncode == 11
    done = subprocess.run(command, env=bare, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    base("check")
