"""What the real model has read is kept across commands, and put back as if it had been read anew."""

import json

import pytest

from tests.real.conftest import Installed

pytestmark = pytest.mark.real

QUESTION = "除湿机 DH-60 的风扇有几档？"


def test_a_second_command_reads_neither_rules_nor_passages_again(base: Installed) -> None:
    first, second = (json.loads(base("ask", QUESTION, "--json").stdout) for _ in range(2))
    assert second["tokens"]["read_ahead"] == 0
    assert second["tokens"]["put_back"] > 0
    # What an earlier question left may be put back in the first, too: together they read the same.
    whole = [turn["tokens"]["evaluated"] + turn["tokens"]["put_back"] for turn in (first, second)]
    assert whole[0] == whole[1]
    assert second["tokens"]["evaluated"] < first["tokens"]["evaluated"]
    assert second["answer"] == first["answer"]


def test_without_passage_states_everything_is_read_anew(base: Installed) -> None:
    done = json.loads(base("ask", QUESTION, "--json", "--no-passage-states").stdout)
    assert done["tokens"]["put_back"] == 0


def test_warm_goes_on_where_the_time_was_up(base: Installed) -> None:
    before = json.loads(base("status", "--json").stdout)["warm"]["passages"]
    done = json.loads(base("warm", "--minutes", "0.1", "--json").stdout)
    assert done["passages"] >= before
    assert json.loads(base("status", "--json").stdout)["warm"]["passages"] == done["passages"]
