"""The chat's slash commands: each does what its name says, and says so where it can't."""

import io

import pytest

from ragcli.cli.app import run


@pytest.fixture
def chat(ragcli, monkeypatch):
    """Return what types lines into a chat and gives back both streams."""
    ragcli.write("docs/gx1.txt", "第一章 参数\nGX-1 的水箱容量是 4 升。\n")
    ragcli.built("docs")
    ragcli.model._answers = ["GX-1 的水箱容量是 4 升 [1]。"]

    def typed(*lines, session="s"):
        ragcli.capture()
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert run(("chat", "--session", session), ragcli.environ) == 0
        return "".join(ragcli.capture())

    return typed


def test_the_last_turns_sources_are_there_after_a_resume(chat):
    chat("GX-1 的水箱多大？")
    assert "gx1.txt" in chat("/sources")
    assert "4 升" in chat("/open 1")


def test_load_opens_what_was_saved_and_nothing_else(chat):
    assert "--session first" in chat("GX-1 的水箱多大？", "/save", session="first")
    assert "/load first" in chat("/load frist", session="other")
    assert "turn 2" in chat("/load first", session="other")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/rewrite on", "rewrite: hybrid"),
        ("/rewrite sideways", "on | off"),
        ("/forget 7", "which fact"),
        ("/k many", "no number"),
        ("/k 3", "k: 3"),
        ("/file *.pdf", "no file matches"),
        ("/file gx*", "file: gx*"),
        ("/model", "model: "),
        ("/opne 1", "/open"),
    ],
)
def test_each_command_says_what_it_did(chat, line, told):
    assert told in chat(line)


def test_an_error_cannot_drive_the_terminal(chat):
    assert "\x1b" not in chat("/rewrite \x1b[31mred")


def test_what_was_forgotten_stays_forgotten_after_a_resume(chat):
    assert "1. " in chat("GX-1 的水箱多大？", "不是，我说的是 GX-1 的水箱", "/facts")
    assert "1. " in chat("/facts")
    chat("/forget 1")
    assert "1. " not in chat("/facts")
