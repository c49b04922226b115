"""Generated conversations over sample_docs: what a rewritten query must hold, turn by turn.

Four kinds, each with a fixed seed. The wording is data (templates.toml, entities.toml); nothing here knows
how the dialogue room works, so it can't lean towards what that code happens to do well.
"""

import json
import random
import sys
import tomllib
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNT = 25
KINDS = ("topic_return", "pending_question", "sibling_switch", "correction")
FILLED = ("other", "back", "pronoun", "switch")
# One conversation in so many is in English, one correction in so many corrects the metric instead.
ENGLISH_EVERY, METRIC_EVERY = 8, 5


@cache
def table(name):
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def groups(lang):
    return [group for group in table("entities.toml")["groups"] if group["lang"] == lang]


def subject(group, position):
    """Return an entity with its group and its place among the siblings."""
    return {**group["entities"][position], "group": group, "position": position}


def only(entity):
    return entity.get("only", entity["name"])


def siblings(rng, group, count):
    positions = rng.sample(range(len(group["entities"])), count)
    return [subject(group, position) for position in positions]


def turn(query, entity, metric, others=()):
    """Return a turn about `entity` and `metric`, with the other subjects kept out of its query."""
    held = entity["marks"] + metric["marks"]
    kept_out = {only(other) for other in others} - set(held)
    return {
        "query": query,
        "expect_in_query": held,
        "expect_not_in_query": sorted(text for text in kept_out if not any(text in mark for mark in held)),
        "evidence": {
            "file": entity["file"],
            "heading": metric["heading"],
            "text": metric["evidence"][entity["position"]],
        },
    }


def said(rng, group, form, **words):
    """Fill a template of the group's language; a filler may come first."""
    forms = table("templates.toml")[group["lang"]]
    filler = rng.choice(forms["filler"]) if form in FILLED else ""
    return filler + rng.choice(forms[form]).format(**words)


def ask(rng, form, entity, metric, wrong=""):
    return said(
        rng,
        entity["group"],
        form,
        entity=entity["name"],
        hint=rng.choice(entity["hints"]),
        noun=metric["noun"],
        ask=metric["ask"],
        wrong=wrong,
    )


def topic_return(rng, lang, number):
    """Ask about A, B and C, then come back to A by name, then go on about it by pronoun."""
    pool = groups(lang)
    if len(pool) >= 3:
        a, b, c = (siblings(rng, group, 1)[0] for group in rng.sample(pool, 3))
    else:
        a, b = siblings(rng, pool[0], 2)
        c = b
    first, again, later = rng.sample(a["group"]["metrics"], 3)
    of_b, of_c = rng.choice(b["group"]["metrics"]), rng.choice(c["group"]["metrics"][1:])
    if b is c and of_b is of_c:
        of_b = b["group"]["metrics"][0]
    return [
        turn(ask(rng, "first", a, first), a, first),
        turn(ask(rng, "other", b, of_b), b, of_b),
        turn(ask(rng, "other", c, of_c), c, of_c),
        turn(ask(rng, "back", a, again), a, again, (b, c)),
        turn(ask(rng, "pronoun", a, later), a, later, (b, c)),
    ]


def pending_question(rng, lang, number):
    """Ask what fits several siblings, answer "which one?" in two to six characters, then go on."""
    group = rng.choice([group for group in groups(lang) if group.get("pending", True)])
    metric, later = rng.sample(group["metrics"], 2)
    everyone = [subject(group, position) for position in range(len(group["entities"]))]
    chosen = rng.choice(everyone)
    others = [entity for entity in everyone if entity["name"] != chosen["name"]]
    opening = said(rng, group, "open", category=group["category"], noun=metric["noun"], ask=metric["ask"])
    return [
        {
            "query": opening,
            "expect_in_query": [group["category"], *metric["marks"]],
            "expect_not_in_query": sorted(only(entity) for entity in everyone),
        },
        turn(rng.choice(chosen["replies"]), chosen, metric, others),
        turn(ask(rng, "pronoun", chosen, later), chosen, later, others),
    ]


def sibling_switch(rng, lang, number):
    """Ask about A, switch to its sibling B with the metric kept, then back or on to C, then go on."""
    group = rng.choice(groups(lang))
    metric, later = rng.sample(group["metrics"], 2)
    a, b, *rest = siblings(rng, group, min(3, len(group["entities"])))
    c = rest[0] if rest else a
    return [
        turn(ask(rng, "first", a, metric), a, metric),
        turn(ask(rng, "switch", b, metric), b, metric, (a,)),
        turn(ask(rng, "switch", c, metric), c, metric, (b,)),
        turn(ask(rng, "pronoun", c, later), c, later, (b,)),
    ]


def correction(rng, lang, number):
    """Ask about A, say that B was meant (or another metric of A), then go on about it."""
    group = rng.choice(groups(lang))
    metric, later, other = rng.sample(group["metrics"], 3)
    a, b = siblings(rng, group, 2)
    opening = turn(ask(rng, "first", a, metric), a, metric)
    if number % METRIC_EVERY == METRIC_EVERY - 1:
        mended = turn(ask(rng, "correct_metric", a, other), a, other, (b,))
        dropped = [mark for mark in metric["marks"] if not any(mark in kept for kept in other["marks"])]
        mended["expect_not_in_query"] = sorted({*mended["expect_not_in_query"], *dropped})
        return [opening, mended, turn(ask(rng, "pronoun", a, later), a, later, (b,))]
    return [
        opening,
        turn(ask(rng, "correct", b, metric, wrong=a["name"]), b, metric, (a,)),
        turn(ask(rng, "pronoun", b, later), b, later, (a,)),
    ]


MAKERS = dict(zip(KINDS, (topic_return, pending_question, sibling_switch, correction), strict=True))


def conversations(kind, seed):
    """Return COUNT different conversations of one kind; the same seed gives the same ones."""
    rng = random.Random(f"{kind}:{seed}")
    made, seen = [], set()
    while len(made) < COUNT:
        lang = "en" if len(made) % ENGLISH_EVERY == ENGLISH_EVERY - 1 else "zh"
        turns = MAKERS[kind](rng, lang, len(made))
        key = tuple(turn["query"] for turn in turns)
        if key in seen:
            continue
        seen.add(key)
        made.append({"id": f"{kind}-{seed}-{len(made) + 1:02d}", "kind": kind, "turns": turns})
    return made


def main():
    """Write one kind as JSON lines: generate.py KIND SEED."""
    for conversation in conversations(sys.argv[1], int(sys.argv[2])):
        sys.stdout.write(json.dumps(conversation, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
