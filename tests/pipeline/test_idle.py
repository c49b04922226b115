"""Work while nobody asks."""

import threading
import time

import pytest

from ragcli.errors import RagcliError
from ragcli.generation.llm import Aborted
from ragcli.pipeline.idle import Idle


def test_the_work_is_told_to_end_and_waited_for():
    idle, log = Idle(), []

    def work():
        log.append(threading.current_thread() is threading.main_thread())
        while not idle.cancelled():
            time.sleep(0.001)
        log.append("ended")

    with idle.during(work):
        pass
    assert log == [False, "ended"]
    assert not idle.cancelled()


@pytest.mark.parametrize("fault", [RagcliError("locked"), Aborted()])
def test_its_faults_trouble_nobody(fault):
    def work():
        raise fault

    idle = Idle()
    for _ in range(2):
        with idle.during(work):
            pass
    assert not idle.cancelled()


def test_an_interrupt_of_the_block_ends_the_work_too():
    idle = Idle()
    with pytest.raises(KeyboardInterrupt), idle.during(lambda: None):
        raise KeyboardInterrupt
    assert not idle.cancelled()
