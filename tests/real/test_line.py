"""The whole line on real parts: TXT in, a cited answer out."""

import json
import subprocess
import sys
from itertools import combinations

import pytest

from tests.real.conftest import ROOT, Installed

pytestmark = pytest.mark.real


def test_a_second_sync_computes_nothing(base: Installed) -> None:
    report = json.loads(base("sync", str(ROOT / "sample_docs"), "--json").stdout)
    assert report["vectors"]["computed"] == 0
    assert report["index"]["unchanged"] is True


def test_a_question_finds_its_passage_without_torch(base: Installed) -> None:
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "ragcli",
        "search",
        "DH-60 的水箱容量是多少",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=base.environ, check=True)
    hits = json.loads(done.stdout)["hits"]
    assert hits[0]["file"] == "除湿机DH-60说明书.txt"
    loaded = {
        line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line
    }
    assert not loaded & {"torch", "transformers", "sentence_transformers"}


def test_an_answer_cites_the_hits_that_it_was_made_from(base: Installed) -> None:
    record = json.loads(base("ask", "DH-60 的水箱容量是多少？", "--json", "-q").stdout)
    assert record["action"] == "answer"
    assert "8" in record["answer"]
    assert record["citations"]
    assert {cited["chunk_id"] for cited in record["citations"]} <= {hit["chunk_id"] for hit in record["hits"]}
    assert record["tokens"]["evaluated"] > 0


@pytest.mark.parametrize("more", [{}, {"TMPDIR": "/proc"}], ids=["", "no place for temporary files"])
def test_cli6_stdout_is_one_value_and_quiet_stderr_is_empty(base: Installed, more: dict[str, str]) -> None:
    command = [sys.executable, "-m", "ragcli", "ask", "DH-30 的水箱容量是多少？", "--json", "-q"]
    environ = {**base.environ, **more}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_ret6_different_questions_find_different_passages(base: Installed) -> None:
    wanted = {
        "除湿机 DH-30 一天能除多少水": "除湿机DH-30说明书.txt",
        "健身中心的储物柜能过夜吗": "健身中心会员问答.txt",
        "显微硬度计在哪个房间": "仪器共享平台收费手册.txt",
        "澄湖一号交叉带七月停了多久": "分拣中心运行季报.txt",
        "how do I reset the greenhouse controller": "fernhill_greenhouse_controller_guide.txt",
    }
    found = {query: json.loads(base("search", query, "--json", "-k", "5").stdout)["hits"] for query in wanted}
    assert {query: hits[0]["file"] for query, hits in found.items()} == wanted
    pairs = list(combinations([{hit["chunk_id"] for hit in hits} for hits in found.values()], 2))
    assert sum(len(one & other) for one, other in pairs) / len(pairs) < 2.5


def test_the_fixed_prompt_is_read_once_for_all_commands(base: Installed) -> None:
    first = json.loads(base("ask", "DH-60 的水箱容量是多少？", "--json").stdout)["tokens"]
    assert first["evaluated"] < first["prompt"]


def test_a_follow_up_is_searched_for_what_it_means(base: Installed) -> None:
    lines = "\n".join(
        json.dumps({"query": query, "session": "f"})
        for query in ("DH-30 一天能除多少水？", "它的水箱多大？", "那 60 呢？")
    )
    rows = [
        json.loads(line)
        for line in base("chat", "--jsonl", "--no-generate", typed=lines + "\n").stdout.splitlines()
    ]
    assert rows[0]["rewritten"] == [rows[0]["query"]]
    assert any("DH-30" in query for query in rows[1]["rewritten"])
    assert rows[1]["hits"][0]["file"] == "除湿机DH-30说明书.txt"
    assert any("60" in query and "水箱" in query for query in rows[2]["rewritten"])
    assert rows[2]["hits"][0]["file"] == "除湿机DH-60说明书.txt"


def test_ret1_what_the_files_do_not_tell_is_said_plainly(base: Installed) -> None:
    record = json.loads(base("ask", "明天上午会下雨吗", "--json", code=4).stdout)
    assert record["action"] == "not_found"
    assert record["citations"] == []


def test_doctor_finds_everything_working(base: Installed) -> None:
    checks = json.loads(base("doctor", "--json").stdout)
    assert checks["ok"], checks
    assert {"llama", "models", "memory", "base"} <= {row["what"] for row in checks["checks"]}


def test_both_forms_of_the_embedding_model_agree(base: Installed) -> None:
    import numpy as np

    from ragcli import config
    from ragcli.embedding.query import QueryEmbedder
    from ragcli.embedding.sentence import SentenceEmbedder
    from ragcli.pipeline.models import model_path

    models = config.models_dir(base.environ)
    folder = model_path("multilingual-e5-small", "embedding", models)
    bulk = SentenceEmbedder(folder, {})
    single = QueryEmbedder(
        model_path("multilingual-e5-small", "query", models),
        {},
        query_prefix="query: ",
        passage_prefix="passage: ",
    )
    texts = [
        "水箱满时机器停机，倒水后自动恢复。",
        "The relay output is rated 5 A.",
        "一线城市住宿费每天不超过 600 元。",
        "短",
    ]
    bulk_rows, single_rows = bulk.embed_passages(texts), single.embed_passages(texts)
    assert (bulk_rows * single_rows).sum(axis=1).min() > 0.999
    query = "how many amps can the relay switch"
    assert (
        np.argmax(bulk_rows @ bulk.embed_query(query))
        == np.argmax(bulk_rows @ single.embed_query(query))
        == 1
    )


def test_f36_no_command_opens_a_connection(base: Installed) -> None:
    guard = (
        "import sys, socket\n"
        "def stop(event, args):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo'): raise RuntimeError(event)\n"
        "sys.addaudithook(stop)\n"
        "from ragcli.cli.app import main\n"
        "sys.argv = ['ragcli', *sys.argv[1:]]\n"
        "main()\n"
    )
    for argv in (
        ["sync", str(ROOT / "sample_docs")],
        ["search", "水箱"],
        ["ask", "DH-60 的水箱容量是多少？", "-q"],
        ["models", "list"],
        ["status"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", guard, *argv], capture_output=True, text=True, env=base.environ
        )
        assert done.returncode == 0, (argv, done.stderr)
