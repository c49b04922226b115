"""What scripts rely on: exit codes, streams, JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MANUAL = (
    "甲型净化机说明书\n\n第一章 概述\n本机用于会议室，额定功率 40 W。\n\n"
    "第二章 保养\n滤网每两个月清洗一次。\n滤芯每六个月更换一次，更换后按住复位键五秒。\n"
)
POLICY = "差旅制度\n\n第一章 总则\n出差须提前两天申请。\n\n第二章 报销\n报销单在回程后五天内交财务。\n"


@pytest.fixture
def docs(ragcli):
    ragcli.write("docs/净化机.txt", MANUAL)
    ragcli.write("docs/差旅.txt", POLICY)
    return ragcli


def test_a_base_is_made_once_and_the_second_time_nothing_changes(ragcli) -> None:
    assert ragcli("init", "--json").json["made"] is True
    settings = (ragcli.folder / "kb" / "ragcli.toml").read_text()
    assert ragcli("init", "--json").json["made"] is False
    assert (ragcli.folder / "kb" / "ragcli.toml").read_text() == settings


def test_the_report_of_a_run_holds_the_parts_that_were_done(docs) -> None:
    docs("init")
    report = docs("ingest", "docs", "--json").json
    assert report["files"]["added"] == 2
    assert set(report) == {"files", "chunks", "seconds"}
    report = docs("embed", "--json").json
    assert report["vectors"]["computed"] > 0
    report = docs("index", "--json").json
    assert report["index"]["kind"] == "flat"
    again = docs("sync", "docs", "--json").json
    assert (again["files"]["unchanged"], again["vectors"]["computed"], again["index"]["unchanged"]) == (
        2,
        0,
        True,
    )


def test_global_flags_count_before_and_after_the_command(docs) -> None:
    docs.built("docs")
    before = docs("--json", "search", "滤芯多久更换").json
    after = docs("search", "滤芯多久更换", "--json").json
    assert [hit["chunk_id"] for hit in before["hits"]] == [hit["chunk_id"] for hit in after["hits"]]
    assert before["hits"][0]["file"] == "净化机.txt"
    assert set(before["hits"][0]) >= {
        "rank",
        "score",
        "scores",
        "chunk_id",
        "kind",
        "file",
        "heading_path",
        "line_start",
        "line_end",
        "text",
        "shown",
    }


def test_cli9_each_kind_of_failure_has_its_own_exit_code(docs) -> None:
    assert docs("search", "甲").code == 10
    docs("init")
    assert docs("search", "甲").code == 10
    assert docs("index").code == 10
    assert docs("ingest", "missing").code == 2
    assert docs("ask", "甲", "--no-such-option").code == 2
    docs.write("bad/one.txt", bytes(range(1, 9)) * 500)
    assert docs("ingest", "bad").code == 7
    docs.write("part/a.txt", "第一行字\n")
    docs.write("part/b.txt", bytes(range(1, 9)) * 500)
    assert docs("ingest", "part").code == 3


def test_an_error_is_one_line_and_with_json_also_a_value_on_the_last_line(ragcli) -> None:
    plain = ragcli("search", "甲")
    assert plain.out == ""
    assert len(plain.err.splitlines()) == 1
    assert "ragcli init" in plain.err
    lines = ragcli("search", "甲", "--json").err.splitlines()
    assert json.loads(lines[-1])["error"]["code"] == 10
    assert json.loads(lines[-1])["error"]["remedy"]


def test_an_unknown_setting_stops_with_its_path_and_the_nearest_known_one(docs) -> None:
    docs("init")
    docs.write("kb/ragcli.toml", "[retrieval]\nkk = 3\n")
    stopped = docs("search", "甲")
    assert stopped.code == 2
    assert "ragcli.toml" in stopped.err
    assert "retrieval.k" in stopped.err


def test_cli5_text_to_a_pipe_is_not_wrapped_cut_or_coloured(docs) -> None:
    name = "很长的目录名" * 8 + "/说明.txt"
    docs.write(
        f"docs/{name}",
        "说明\n\n这一句话故意写得很长很长，好让窄窄的终端放不下，可是输出到管道时一个字也不能断开。\n",
    )
    docs.environ["COLUMNS"] = "20"
    docs.built("docs")
    shown = docs("search", "故意写得很长")
    assert name in shown.out
    assert "好让窄窄的终端放不下，可是输出到管道时一个字也不能断开。" in shown.out
    assert "\x1b" not in shown.out


def test_cli4_what_looks_like_markup_is_printed_as_it_stands(docs) -> None:
    docs.write(
        "docs/单[red].txt",
        "清单\n\n类型写作 dict[str]，结尾写 [/宽]，链接写 [link=http://y]字[/link]，斜杠写 \\[。\n",
    )
    docs.built("docs")
    shown = docs("search", "类型怎么写 [/]")
    assert shown.code == 0
    for text in ("单[red].txt", "dict[str]", "[/宽]", "[link=http://y]", "\\["):
        assert text in shown.out


def test_f31_control_characters_of_a_document_are_shown_and_not_obeyed(docs) -> None:
    docs.write("docs/坏.txt", "坏字符\n\n阀门\x1b]0;改标题\x07编号\u202e三号\x9b31m阀门说明在这里。\n")
    docs.built("docs")
    shown = docs("search", "阀门编号")
    assert "阀门" in shown.out
    assert not set(shown.out) & set("\x1b\x07\x9b\u202e")
    found = [hit["text"] for hit in docs("search", "阀门编号", "--json").json["hits"]]
    assert any("\x1b]0;" in text for text in found)


def test_a_turn_has_the_fields_of_the_contract_and_cites_its_hits(docs) -> None:
    docs.built("docs")
    docs.model = type(docs.model)(["滤芯每六个月更换一次。[1]"])
    record = docs("ask", "甲型净化机的滤芯多久更换一次？", "--json").json
    assert set(record) >= {
        "session",
        "turn",
        "query",
        "rewritten",
        "rewrite",
        "action",
        "answer",
        "citations",
        "hits",
        "timings_ms",
        "tokens",
    }
    assert record["action"] == "answer"
    assert "六个月" in record["answer"]
    assert {cited["chunk_id"] for cited in record["citations"]} <= {hit["chunk_id"] for hit in record["hits"]}
    assert record["citations"][0]["file"] == "净化机.txt"


def test_nothing_found_exits_with_4_and_makes_nothing_up(docs) -> None:
    docs.built("docs")
    docs.model = type(docs.model)(["董事长是张三。"])
    docs.environ["RAGCLI_RETRIEVAL_THRESHOLD"] = "1.1"  # what a score means is the real models' business
    outcome = docs("ask", "董事长是谁", "--json")
    assert outcome.code == 4
    assert outcome.json["action"] == "not_found"
    assert outcome.json["citations"] == []
    assert docs.model.asked == []


def test_an_empty_question_is_wrong_usage(docs) -> None:
    docs.built("docs")
    assert docs("ask", "  ").code == 2
    assert docs("search", "").code == 2


def test_chat_jsonl_writes_one_line_a_turn_and_goes_on_after_a_bad_one(
    docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    docs.built("docs")
    lines = [
        "滤芯多久更换",
        '{"query": "", "session": "s"}',
        "{broken",
        '{"query": "出差要提前几天申请", "session": "s", "turn": 1}',
        '{"query": "x", "session": "s", "turn": 7}',
        '{"query": "出差要提前几天申请", "session": "s", "turn": 1}',
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    outcome = docs("chat", "--jsonl", "--no-generate")
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert outcome.code == 0
    assert ["error" in row for row in rows] == [False, True, True, False, True, False]
    assert rows[4]["error"]["kind"] == "turn_out_of_order"
    assert rows[5] == rows[3]


def test_chat_jsonl_with_a_history_keeps_nothing(docs, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    docs.built("docs")
    line = json.dumps(
        {"query": "滤网多久清洗一次", "history": [{"user": "", "assistant": "您好"}], "session": "h"}
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO(line + "\n"))
    assert docs("chat", "--jsonl", "--no-generate").code == 0
    assert docs("sessions", "list", "--json").json["sessions"] == []


def test_a_session_is_continued_shown_and_removed(docs) -> None:
    docs.built("docs")
    docs.model = type(docs.model)(["每两个月清洗一次。[1]"])
    docs("ask", "甲型净化机的滤网多久清洗一次？", "--session", "周一")
    second = docs("ask", "报销单什么时候交？", "--session", "周一", "--json").json
    assert second["turn"] == 2
    shown = docs("sessions", "show", "周一")
    assert "滤网多久清洗" in shown.out
    assert "报销单什么时候交" in docs("trace", "周一", "2").out
    assert docs("sessions", "rm", "周一").code == 0
    assert docs("sessions", "show", "周一").code == 2


def test_every_command_has_help_with_examples() -> None:
    from typer.main import get_command

    from ragcli.cli.app import build
    from ragcli.cli.messages import Messages

    def walk(command, path):
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                walk(inner, [*path, name])
        else:
            assert command.help, path
            assert "ragcli" in (command.epilog or ""), path

    for language in ("zh", "en"):
        walk(get_command(build(Messages(language))), [])


def test_both_languages_hold_the_same_texts_with_the_same_fields() -> None:
    import string
    import tomllib

    def leaves(table, path=""):
        for key, value in table.items():
            if isinstance(value, dict):
                yield from leaves(value, f"{path}{key}.")
            else:
                yield f"{path}{key}", {name for _, name, _, _ in string.Formatter().parse(value) if name}

    folder = Path(__file__).parents[2] / "ragcli" / "cli" / "messages"
    en, zh = (
        dict(leaves(tomllib.loads((folder / f"{name}.toml").read_text("utf-8")))) for name in ("en", "zh")
    )
    assert en == zh


def test_every_error_that_is_raised_has_its_words() -> None:
    import ast
    import tomllib

    root = Path(__file__).parents[2] / "ragcli"
    known = set(tomllib.loads((root / "cli" / "messages" / "en.toml").read_text("utf-8"))["errors"])
    classes = {
        "RagcliError",
        "UsageError",
        "NotReady",
        "Damaged",
        "StorageFailed",
        "ModelUnusable",
        "NoUsableAnswer",
        "Locked",
        "SourceUnreadable",
        "CheckFailed",
    }
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in classes
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                assert node.args[0].value in known, (path.name, node.args[0].value)


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ragcli", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {
        line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line
    }
    assert not loaded & {
        "torch",
        "transformers",
        "sentence_transformers",
        "faiss",
        "llama_cpp",
        "tantivy",
        "numpy",
        "tokenizers",
    }
    assert "sync" in done.stdout


def test_the_steps_of_old_turns_are_forgotten_and_their_answers_stay(docs) -> None:
    docs.built("docs")
    docs.model = type(docs.model)(["每两个月清洗一次。[1]"])
    docs("ask", "甲型净化机的滤网多久清洗一次？", "--session", "旧")
    docs.environ["RAGCLI_TRACE_KEEP_DAYS"] = "0"
    docs("ask", "报销单什么时候交？", "--session", "新")
    kept = docs("trace", "旧", "1", "--json").json
    assert kept["trace"] == {}
    assert "两个月" in kept["record"]["answer"]
