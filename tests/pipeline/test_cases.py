"""Cases of models, memory and pipes that are told at the command line; each is named by the case that it is of."""

import io
import subprocess
import sys
import time
import tracemalloc

import pytest

from ragcli.models import e5_forms
from ragcli.pipeline import embedders, runs, upkeep
from ragcli.storage import files
from tests.doubles import HashEmbedder, ScriptedModel
from tests.models.small import entry_of, pack_bytes
from tests.pipeline.test_kills import Killable


@pytest.mark.parametrize("missing", ["tokenizer.json", "config.json", "model.safetensors"])
def test_mod1_a_model_folder_that_lacks_a_file_is_named_at_once(ragcli, monkeypatch, missing):
    packed = ragcli.write("packed.bin", pack_bytes())
    entry = entry_of("tiny-e5", packed.read_bytes(), (), ragcli.folder / "wheels", "e5")
    e5_forms.make_forms(entry, packed, ragcli.folder / "tiny", files)
    (ragcli.folder / "tiny" / missing).unlink()
    for module in (runs, upkeep):
        monkeypatch.setattr(module, "passage_embedding", embedders.passage_embedding)
    ragcli.environ["RAGCLI_EMBEDDING_MODEL"] = str(ragcli.folder / "tiny")
    ragcli.write("docs/a.txt", "油温\n\n油温不得超过八十度。\n")
    ragcli("init")
    ragcli("ingest", "docs")
    started = time.monotonic()
    refused = ragcli("embed")
    assert refused.code == 14
    assert missing in refused.err
    assert time.monotonic() - started < 5


def embedded(line, chunks, monkeypatch):
    """Embed so many chunks; return how often the model was loaded, the largest batch, and the peak of memory."""
    loads, sizes = [], []

    class Counting(HashEmbedder):
        def embed_passages(self, texts):
            sizes.append(len(texts))
            return super().embed_passages([text[:3] for text in texts])

    def choice(_base):
        model = Counting()
        return embedders.EmbeddingChoice(dict(model.identity), lambda: loads.append(1) or model)

    monkeypatch.setattr(runs, "passage_embedding", choice)
    line.environ["RAGCLI_KB"] = str(line.folder / f"kb{chunks}")
    line.write(
        f"docs{chunks}/a.txt",
        "\n\n".join(f"第{n}章 题{n}\n\n" + f"内容{n}各不相同。" * 40 for n in range(chunks)),
    )
    line("init")
    line("ingest", f"docs{chunks}")
    tracemalloc.start()
    assert line("embed", "--batch-size", "8", "--json").json["vectors"]["computed"] >= chunks
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return len(loads), max(sizes), peak


def test_mod6_memory_is_bounded_by_the_batch_and_the_model_is_loaded_once(ragcli, monkeypatch):
    loads, largest, little = embedded(ragcli, 100, monkeypatch)
    assert (loads, largest) == (1, 8)
    loads, largest, much = embedded(ragcli, 600, monkeypatch)
    assert (loads, largest) == (1, 8)
    assert much < 3 * little + 2**20


def test_cli2_an_interrupted_answer_leaves_the_chat_going_and_ends_ask_with_130(ragcli, monkeypatch):
    class Interrupted(ScriptedModel):
        def complete(self, messages, **options):
            self.asked.append(messages)
            if len(self.asked) == 1:
                raise KeyboardInterrupt
            return super().complete(messages, **options)

    ragcli.environ["RAGCLI_RETRIEVAL_THRESHOLD"] = "0"
    ragcli.write("docs/a.txt", "A3说明\n\nA3的水箱容量是三升。\n")
    ragcli.write("docs/b.txt", "B5说明\n\nB5的水箱容量是七升。\n")
    ragcli.built("docs")
    ragcli.model = Interrupted(["B5的水箱容量是七升[1]。"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("A3水箱容量是多少\nB5水箱容量是多少\n"))
    outcome = ragcli("chat", "--rewrite", "off")
    assert outcome.code == 0
    assert "七升" in outcome.out
    ragcli.model = Interrupted(["好。"])
    assert ragcli("ask", "A3水箱容量是多少", "--rewrite", "off").code == 130


def test_cli7_a_reader_that_leaves_the_pipe_is_no_error(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(60):
        (docs / f"{number:02}.txt").write_text(f"部件{number}\n\n水泵部件{number}" + "的说明。" * 60, "utf-8")
    line = Killable(tmp_path)
    line("init")
    line("sync", str(docs))
    process = line.start("search", "水泵部件", "-k", "50")
    reader = subprocess.run(["head", "-c", "10"], stdin=process.stdout, capture_output=True, check=True)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0, err.decode()
    assert len(reader.stdout) == 10
    assert b"Broken pipe" not in err
    assert b"Traceback" not in err
