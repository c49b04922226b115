"""What a small model writes is cleaned to the question or refused."""

import pytest

from ragcli.dialogue.validate import clean, refusal
from tests.dialogue.conversation import LEXICON

QUERY, SAID = "它多久清洗一次？", ["月鹿C7的水箱多大？", "两升。"]
WANTED = "月鹿C7的清洗周期"


@pytest.mark.parametrize(
    "raw",
    [
        f"<think>在问 C7。</think>\n{WANTED}",
        f"嗯，在问清洗。\n</think>\n\n{WANTED}",
        f"改写后的问题：「{WANTED}」",
        f"**{WANTED}**",
        f"根据历史对话，改写如下：\n{WANTED}",
        f"1. {WANTED}\n2. C7多久洗一次",
        f'{{"query": "{WANTED}"}}',
        f"{WANTED}<|im_end|>\n<|im_start|>user",
    ],
)
def test_rew5_the_question_is_found_inside_what_was_written(raw):
    assert clean(raw) == WANTED
    assert refusal(WANTED, QUERY, SAID, LEXICON) == ""


@pytest.mark.parametrize(
    "raw",
    ["", " \n\n", "<think>没有写完", "抱歉，我无法回答这个问题。", "What is the cleaning cycle?", WANTED + "的清洗周期" * 60,
     "月鹿C9的清洗周期", "每两周清洗一次，用 3 升水"],
)  # fmt: skip
def test_rew5_what_is_no_rewrite_is_refused(raw):
    text = clean(raw)
    assert refusal(text, QUERY, SAID, LEXICON)
