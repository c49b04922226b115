"""A command line of its own for each test: fresh folders, no settings of the person's, doubles for the models."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragcli.cli.app import run
from tests.doubles import HashEmbedder, ScriptedModel


@dataclass
class Outcome:
    """What a command line left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out, self.err
        return json.loads(self.out)


@dataclass
class CommandLine:
    """Runs ragcli in this process, in a folder of its own."""

    folder: Path
    environ: dict[str, str]
    capture: Callable[[], tuple[str, str]]
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(["好。"]))

    def __call__(self, *argv: str) -> Outcome:
        self.capture()
        code = run(argv, self.environ)
        out, err = self.capture()
        assert "Traceback" not in err
        return Outcome(code, out, err)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def built(self, *paths: str) -> None:
        """Make a base and bring it up to date with the paths."""
        self("init")
        assert self("sync", *paths).code in (0, 3)


@pytest.fixture
def ragcli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """Return a command line whose models are doubles."""
    from ragcli.pipeline import embedders, index, language, runs, searcher, upkeep

    monkeypatch.chdir(tmp_path)
    environ = {
        "HOME": str(tmp_path / "home"),
        "RAGCLI_KB": str(tmp_path / "kb"),
        "RAGCLI_UI_LANGUAGE": "en",
        "TERM": "dumb",
    }
    line = CommandLine(tmp_path, environ, lambda: tuple(capfd.readouterr()))

    def choice(_base) -> embedders.EmbeddingChoice:
        return embedders.EmbeddingChoice(dict(line.embedder.identity), lambda: line.embedder)

    for module in (runs, upkeep):
        monkeypatch.setattr(module, "passage_embedding", choice)
    monkeypatch.setattr(runs, "token_counter", lambda *_: None)
    monkeypatch.setattr(searcher, "model_facts", lambda _base: dict(line.embedder.identity))
    monkeypatch.setattr(searcher, "query_embedding", lambda _base: line.embedder)
    monkeypatch.setattr(index, "query_embedding", lambda _base: line.embedder)
    monkeypatch.setattr(language.LanguageModels, "_load", lambda _self, _name: line.model)
    monkeypatch.setattr("ragcli.pipeline.engine.restore_fixed", lambda *_: True)
    return line
