"""The default reranker and the two that ask a model."""

import pytest

from ragcli.datatypes import Chunk, StoredChunk
from ragcli.errors import ModelUnusable
from ragcli.retrieval.cross_encoder import CrossEncoderReranker
from ragcli.retrieval.evidence import candidates_of, examine, facts, view
from ragcli.retrieval.judge import JudgeReranker
from ragcli.retrieval.rank import WordReranker


def candidate(text, path=(), file="手册.txt", title="", fused=0.5, number=1):
    stored = StoredChunk(Chunk(number, path, "text", text, 1, 1, 0, len(text)), file, title)
    return candidates_of([stored], {number: fused}, str.lower, values=True)[0]


def asked(text, known=1):
    return view(text, str.lower, lambda _: known, 10)


def test_the_sibling_of_a_named_model_is_told_by_its_path():
    query = asked("KD-310的皮带多长")
    assert facts(query, candidate("皮带长 900 毫米", title="KD-320 台钻手册")).sibling
    assert not facts(query, candidate("皮带长 800 毫米", title="KD-310 台钻手册")).sibling
    assert not facts(query, candidate("KD-310 与 KD-320 的皮带", title="KD-320 台钻手册")).sibling
    assert not facts(query, candidate("皮带长 800 毫米", title="食堂")).sibling


def test_the_file_name_counts_as_a_path():
    query = asked("KD-310的皮带多长")
    assert facts(query, candidate("皮带长 800 毫米", file="机床/KD-310说明.txt")).names == 1.0


def test_words_in_one_sentence_are_nearer_than_words_apart():
    query = asked("皮带 更换")
    together = facts(query, candidate("皮带每年更换。灯不用管。"))
    apart = facts(query, candidate("皮带在后盖里。灯泡可以更换。"))
    assert together.coverage == apart.coverage
    assert together.near > apart.near


def test_names_that_the_base_lacks_are_told():
    assert view("KD-900的皮带", str.lower, lambda term: 0 if "900" in term else 3, 10).unknown == ("kd900",)


def test_the_default_prefers_the_named_model():
    query = asked("KD-310的皮带多长")
    other = candidate("皮带长 900 毫米", title="KD-320 手册", fused=1.0)
    named = candidate("皮带长 800 毫米", title="KD-310 手册", fused=0.9)
    scores = WordReranker().rerank(query, examine(query, [other, named], [0.05, 0.05]))
    assert scores[1] > scores[0]


class Model:
    """Says yes to what holds a word."""

    def likelihoods(self, messages, answers):
        return [-0.1, -3.0] if "八百" in messages[0].content else [-3.0, -0.1]


def test_the_judge_puts_what_it_says_yes_to_first_and_the_unasked_last():
    pool = [candidate("灯", fused=0.9), candidate("长八百", fused=0.8), candidate("八百", fused=0.1)]
    scores = JudgeReranker(Model(), depth=2).rerank(asked("皮带多长"), pool)
    assert scores[1] > 0.9
    assert scores[0] < 0.1
    assert scores[2] < 0.0


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelUnusable) as caught:
        CrossEncoderReranker(tmp_path)
    assert caught.value.fields["path"] == tmp_path


def test_ret4_a_chapter_that_is_named_by_its_number_is_told_by_its_path():
    query = asked("第7章讲了什么")
    assert facts(query, candidate("更换皮带", path=("第七章 台钻",))).chapter
    assert not facts(query, candidate("见第七章", path=("第十七章 收尾",))).chapter


def test_ret1_a_passage_that_holds_the_name_alone_is_told():
    query = asked("KD-310的额定功率")
    assert facts(query, candidate("皮带长 800 毫米", title="KD-310 手册")).only_named
    assert not facts(query, candidate("额定功率 800 瓦", title="KD-310 手册")).only_named
    assert not facts(asked("皮带多长"), candidate("灯")).only_named
