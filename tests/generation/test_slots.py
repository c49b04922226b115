from ragcli.generation.slots import Slots, common

REWRITER = list(range(1000, 1100))
GENERATOR = list(range(2000, 2200))


def test_each_role_finds_its_own_fixed_prompt_again():
    slots = Slots(3, 4096)
    one, known = slots.choose(REWRITER)
    assert known == 0
    one.tokens = [*REWRITER]
    two, known = slots.choose(GENERATOR)
    assert (known, two is one) == (0, False)
    two.tokens = [*GENERATOR]
    again, known = slots.choose([*REWRITER, 1, 2])
    assert (again is one, known) == (True, len(REWRITER))
    again, known = slots.choose([*GENERATOR, 3])
    assert (again is two, known) == (True, len(GENERATOR))


def test_the_last_token_is_always_evaluated():
    slots = Slots(2, 4096)
    slot, _ = slots.choose(REWRITER)
    slot.tokens = [*REWRITER]
    assert slots.choose(REWRITER)[1] == len(REWRITER) - 1


def test_the_least_recently_used_prompt_makes_room():
    slots = Slots(3, 400)
    for tokens in (REWRITER, GENERATOR):
        slots.choose(tokens)[0].tokens = [*tokens]
    new, _ = slots.choose(list(range(50)))
    out = slots.crowded_out(new, 150)
    assert [slot.tokens for slot in out] == [REWRITER]
    assert slots.crowded_out(new, 100) == []


def test_common():
    assert common([1, 2, 3], [1, 2, 4]) == 2
    assert common([], [1]) == 0
