"""The chat as it looks on a terminal: what is typed, pasted, interrupted, resized and taken up again."""

import os
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, same_screen

ROOT = Path(__file__).parents[2]
DOCS = (
    "第一章 参数\nGX-1 的水箱容量是 4 升。\n\n第二章 清洁\nGX-1 的滤网每 30 天清洗一次，水温不超过 40 度。\n"
)
PROMPT = "› "


@pytest.fixture
def environ(ragcli):
    """Return the environment of a base that is built."""
    ragcli.write("docs/gx1.txt", DOCS)
    ragcli.built("docs")
    return {
        **ragcli.environ, "TERM": "xterm-256color", "NO_COLOR": "1", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT),
        "PATH": os.environ["PATH"], "PROMPT_TOOLKIT_NO_CPR": "1",
    }  # fmt: skip


@pytest.fixture
def chat(environ):
    """Return what starts a chat on a terminal."""
    started = []

    def start(*argv: str, columns: int = 80) -> Terminal:
        command = [sys.executable, "-m", "tests.cli.terminal", "chat", *argv]
        terminal = Terminal(command, environ, columns)
        started.append(terminal)
        terminal.wait_for(at_prompt, "the prompt")
        return terminal

    yield start
    for terminal in started:
        terminal.child.close(force=True)


def at_prompt(text: str) -> bool:
    return text.rstrip().endswith(PROMPT.strip())


def asked(terminal: Terminal, question: str) -> str:
    """Type a question and wait until the next one may be typed."""
    terminal.type(question + "\r")
    terminal.wait_for(lambda text: question in text.replace("\n", ""))
    terminal.read(0.2)
    return terminal.wait_for(at_prompt, "the prompt")


def test_an_answer_with_its_place_and_the_passage_opened(chat):
    terminal = chat("--session", "s")
    asked(terminal, "GX-1 的滤网多久清洗一次？")
    text = asked(terminal, "/open 1")
    assert "每 30 天清洗一次" in text
    same_screen("open", text)


def test_five_pasted_lines_are_one_question(chat):
    terminal = chat("--session", "s")
    terminal.paste("我想问一下\n这台 GX-1\n滤网\n到底多久\n清洗一次？")
    pasted = terminal.wait_for("清洗一次？")
    assert "每 30 天" not in pasted
    terminal.type("\r")
    text = terminal.wait_for("每 30 天清洗一次")
    terminal.wait_for(at_prompt)
    same_screen("paste", terminal.text)
    assert text.count("每 30 天清洗一次") == 1


def test_ctrl_c_stops_an_answer_and_keeps_the_conversation(chat):
    terminal = chat("--session", "s")
    asked(terminal, "GX-1 的滤网多久清洗一次？")
    terminal.type("仔细说说 GX-1 的滤网多久清洗一次？\r")
    terminal.wait_for(lambda text: text.count("每 30 天") > 3, "a long answer")
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for(at_prompt)
    assert "4 升" in asked(terminal, "它的水箱多大？")


def test_ctrl_c_at_an_empty_prompt_hints_and_the_second_leaves_with_130(chat):
    terminal = chat()
    terminal.type("\x03")
    terminal.wait_for("Ctrl-D")
    terminal.wait_for(at_prompt)
    same_screen("hint", terminal.text)
    terminal.type("\x03")
    assert terminal.ended() == 130


def test_ctrl_d_leaves_with_0(chat):
    terminal = chat()
    terminal.type("\x04")
    assert terminal.ended() == 0


def test_a_window_of_60_columns_shows_the_same(chat):
    terminal = chat("--session", "s")
    asked(terminal, "GX-1 的滤网多久清洗一次？")
    terminal.resize(60)
    text = asked(terminal, "它的水箱多大？")
    assert "4 升" in text
    assert max(map(len, text.splitlines())) <= 60
    same_screen("narrow", text)


def test_a_session_is_taken_up_after_a_kill(chat):
    terminal = chat("--session", "work")
    asked(terminal, "GX-1 的滤网多久清洗一次？")
    terminal.type("仔细说说 GX-1 的滤网多久清洗一次？\r")
    terminal.wait_for(lambda text: text.count("每 30 天") > 3, "a long answer")
    terminal.kill()
    again = chat("--session", "work")
    assert "work" in again.text
    assert "4 升" in asked(again, "它的水箱多大？")
    same_screen("resumed", again.text)


def test_a_dumb_terminal_without_colour_gets_plain_lines(chat, environ):
    environ["TERM"] = "dumb"
    text = asked(chat(), "GX-1 的滤网多久清洗一次？")
    assert "每 30 天清洗一次" in text
