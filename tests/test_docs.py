"""Every command that the documents show is one that ragcli understands, and the plain ones run."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        ROOT / "sample_docs" / "README.md",
        ROOT / "models" / "README.md",
    ]
)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shell_blocks(page: Path) -> list[str]:
    """Return the fenced blocks of a page that hold shell lines."""
    found = FENCED.findall(page.read_text("utf-8"))
    return [text for language, text in found if language in ("", "sh", "bash", "console", "ini")]


def commands(page: Path) -> list[str]:
    """Return what follows the word ragcli in each line of a page's shell blocks, up to a pipe or a comment."""
    found = []
    for block in shell_blocks(page):
        for line in block.splitlines():
            for match in re.finditer(r"(?:^|[\s('\"$])ragcli ([^|#>;)]*)", line.split("  #")[0]):
                found.append(match[1].strip().rstrip("'\""))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    from typer.main import get_command

    from ragcli.cli.app import build, take_global_flags
    from ragcli.cli.messages import Messages

    tree = get_command(build(Messages("en")))
    for text in commands(page):
        try:
            words = take_global_flags(shlex.split(text)).rest
        except ValueError:  # a command of a larger shell line, cut inside its quotes
            words = text.split()
        command = tree
        while words and hasattr(command, "commands"):
            assert words[0] in command.commands, f"{page.name}: ragcli {text}"
            command = command.commands[words.pop(0)]
        options = {
            name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)
        }
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= options | {"--help", "-h"}, f"{page.name}: ragcli {text}"


def test_the_first_steps_of_the_readme_run(ragcli, monkeypatch: pytest.MonkeyPatch) -> None:
    (ragcli.folder / "sample_docs").symlink_to(ROOT / "sample_docs")
    ragcli.model = type(ragcli.model)(["水箱容量 8 L。[1]"])
    steps = shell_blocks(ROOT / "README.md")[1]
    lines = [line.split("#")[0].strip() for line in steps.splitlines() if line.startswith("ragcli")]
    assert len(lines) == 5
    for line in lines:
        words = shlex.split(line)[1:]
        if words == ["chat"]:
            continue
        outcome = ragcli(*words)
        assert outcome.code in (0, 4, 5), (line, outcome.err)


def test_every_command_of_the_troubleshooting_page_runs(ragcli) -> None:
    ragcli.environ["XDG_CACHE_HOME"] = str(ragcli.folder / "cache")
    (ragcli.folder / "sample_docs").symlink_to(ROOT / "sample_docs")
    ragcli.built("sample_docs")
    for question in ("DH-30 一天能除多少水", "水箱呢"):
        ragcli("ask", question, "--session", "monday", "--no-generate", "--rewrite", "rules")
    blocks = "\n".join(shell_blocks(ROOT / "docs" / "troubleshooting.md"))
    lines = [line.removeprefix("ragcli ") for line in blocks.splitlines() if line.startswith("ragcli ")]
    assert len(lines) > 20
    for line in lines:
        outcome = ragcli(*shlex.split(line))
        # doctor finds no real models here, and sources that the samples' folder holds besides text are listed.
        assert outcome.code in (0, 3, 4, 5) or line.split()[0] in ("doctor", "models"), (line, outcome.err)


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_each_dependency_has_its_reason() -> None:
    import tomllib

    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for need in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]:
        assert re.split(r"[><=\[ ]", need)[0] in text, need
