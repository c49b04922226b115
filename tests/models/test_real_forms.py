"""The forms of the embedding model must be one: queries go through one, passages through another."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ragcli import config
from ragcli.pipeline.models import check_llama, model_path, verify

pytestmark = pytest.mark.real

TEXTS = (
    "保修期是多久？", "滤芯多长时间更换一次", "设备的额定功率为 1200 W，电压 220 V", "错误代码 E05 表示水箱缺水",
    "请假超过三天需要部门经理批准", "第三条 本办法自发布之日起施行", "2023年第二季度营业收入同比增长12.5%",
    "Ｗｉｆｉ　连接失败怎么办", "① 打开电源 ② 按住按钮 3 秒", "温度范围：−10℃～45℃", "混合 mixed 中英文 text 测试",
    "换\n行\t制表", "㎡ 面积 ½ 杯", "繁體中文測試，保固期限", "龘靐齉 生僻字", "加班费按1.5倍计算", "emoji 😀 测试",
    "The warranty covers parts and labour for two years.", "How do I reset the device to factory settings?",
    "  leading and   double spaces ", "Travel expenses must be submitted within 30 days.", "ﬁne ligature", "A", "。",
    "http://example.org/a?b=c", "一二三四五六七八九十" * 30,
)  # fmt: skip
VECTORS = """
import sys, numpy as np
from pathlib import Path
from ragcli.embedding.sentence import SentenceEmbedder
texts = sys.stdin.read().split("\\0")
model = SentenceEmbedder(Path(sys.argv[1]), {})
rows = np.stack([model.embed_passages(texts), np.stack([model.embed_query(text) for text in texts])])
sys.stdout.buffer.write(rows.astype("<f4").tobytes())
"""

# Whoever opens a connection ends the child: the library would report its use to its makers.
CONVERTED = """
import os, socket, sys
from pathlib import Path
socket.socket.connect = lambda *_: os._exit(9)
from ragcli.embedding.rounding import make_form
make_form(Path(sys.argv[1]), Path(sys.argv[2]))
"""
EIGHT_BIT = """
import sys, numpy as np
from pathlib import Path
from ragcli.embedding.compiled import CompiledEmbedder
texts = sys.stdin.read().split("\\0")
model = CompiledEmbedder(Path(sys.argv[2]), Path(sys.argv[1]), {})
rows = np.stack([model.embed_passages(texts), np.stack([model.embed_query(text) for text in texts])])
assert "torch" not in sys.modules
sys.stdout.buffer.write(rows.astype("<f4").tobytes())
"""


@pytest.fixture(scope="module")
def models_dir():
    return config.models_dir(os.environ)


@pytest.fixture(scope="module")
def both(models_dir):
    """Passages and queries as vectors of each form; torch stays in a child."""
    from ragcli.embedding.query import QueryEmbedder

    folder = model_path("multilingual-e5-small", "embedding", models_dir)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", VECTORS, str(folder)],
        input="\0".join(TEXTS).encode(), capture_output=True, check=True,
    )  # fmt: skip
    path = model_path("multilingual-e5-small", "query", models_dir)
    quick = QueryEmbedder(path, {}, query_prefix="query: ", passage_prefix="passage: ")
    ours = np.stack([quick.embed_passages(TEXTS), np.stack([quick.embed_query(text) for text in TEXTS])])
    return np.frombuffer(done.stdout, "<f4").reshape(ours.shape), ours


def test_both_forms_give_the_same_vectors(both):
    cosine = (both[0] * both[1]).sum(axis=-1)
    assert cosine.min() > 0.999
    assert cosine.mean() > 0.9998


def test_both_forms_rank_alike(both):
    (passages, queries), (_, by_quick) = both
    far, near = queries @ passages.T, by_quick @ passages.T
    for scores in (far, near):
        np.fill_diagonal(scores, -1)
    assert (far.argmax(axis=1) == near.argmax(axis=1)).all()


def test_both_forms_cut_text_into_the_same_tokens(models_dir, both):
    from tokenizers import Tokenizer

    from ragcli.embedding.query import QueryEmbedder

    folder = model_path("multilingual-e5-small", "embedding", models_dir)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    path = model_path("multilingual-e5-small", "query", models_dir)
    quick = QueryEmbedder(path, {}, query_prefix="", passage_prefix="")
    for text in TEXTS:
        assert quick.count_tokens(text) == len(tokenizer.encode(text).ids), text


def test_the_files_are_whole_and_this_build_of_llama_survives(models_dir):
    assert all(
        row["whole"] for row in verify(models_dir, ["multilingual-e5-small", "qwen2.5-coder-0.5b-instruct"])
    )
    assert "llama.cpp" in check_llama(models_dir)


def test_the_eight_bit_form_ranks_alike_and_is_made_without_a_network(both, models_dir, tmp_path):
    folder = model_path("multilingual-e5-small", "embedding", models_dir)
    for script in (CONVERTED, EIGHT_BIT):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, str(folder), str(tmp_path)],
            input="\0".join(TEXTS).encode(), capture_output=True, check=True,
        )  # fmt: skip
    rows = np.frombuffer(done.stdout, "<f4").reshape(both[0].shape)
    assert (rows * both[0]).sum(axis=-1).min() > 0.995
    assert ((rows[1] @ rows[0].T).argmax(axis=1) == (both[0][1] @ both[0][0].T).argmax(axis=1)).all()
