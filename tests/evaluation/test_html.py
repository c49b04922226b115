"""The report page: whole, self-contained, harmless, and readable narrow and wide, light and dark."""

import html.parser
import itertools
import re
import shutil
import subprocess

import pytest

from ragcli.evaluation.html import html_report, page, safe
from ragcli.evaluation.markdown import markdown_report
from ragcli.evaluation.wording import words

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ROW = {"turns": 2, "hit1": 0.5, "hit3": 0.5, "hit5": 1.0, "hit10": 1.0, "mrr": 0.75, "ndcg10": 0.8,
       "interval": {"hit1": [0.0, 1.0], "hit5": [0.9, 1.0]}}  # fmt: skip
READ = {"turns": 1, "exact": 0.0, "rouge_l": 0.5, "restored_recall": 0.5, "restored_precision": 0.5, "same_things": 1.0,
        "same_numbers": 1.0, "same_asked": 1.0, "interval": {"exact": [0, 0], "rouge_l": [0, 1]}}  # fmt: skip
FOUND = {
    "all": ROW,
    "by_turn": {"turn1": ROW, "turn2": ROW},
    "by_kind": {"pronoun": ROW},
    "by_dependence": {"dependent": ROW},
}
SIDE = {"expected": 1, "taken": 1, "recall": 1.0, "precision": 1.0, "wrongly": 0.0}
FIGURES = {
    "retrieval": FOUND,
    "rewriting": {
        "all": READ,
        "dependent": READ,
        "over_rewriting": {"share": 0.0},
        "invented": {"share": 0.0},
    },
    "actions": {
        "confusion": {"answer": {"answer": 1, "clarify": 1}},
        "right": 0.5,
        "clarify": SIDE,
        "not_found": SIDE,
    },
}
NASTY = "<script>alert(1)</script>\x1b[31m\u202e&"


def report(**more):
    lost = {
        "turn": "cases/A/1", "query": NASTY, "reference": "全", "rewritten": [NASTY], "expect": "answer", "action": "clarify",
        "wrong": ["not_found", "action"], "evidence": [{"file": "甲.txt", "text": NASTY}], "documents": [],
        "answer_has": [["六"]],
        "answer_not": [NASTY], "hits": [{"rank": 1, "score": 0.5, "file": NASTY, "heading_path": [NASTY], "line_start": 1,
        "line_end": 2, "text": NASTY * 20}], "trace": {"gate": {"why": NASTY}},
    }  # fmt: skip
    times = {"ms": {"total": {"median": 1.0, "p95": 2.0}}, "tokens_a_turn": {"prompt": 3.0}}
    return {
        "ragcli": "1", "form": "documents", "seed": 1, "cases": {"files": ["cases.jsonl"], "conversations": 1, "turns": 2},
        "settings": {"rewrite": "rules", "generation": "m", "embedding": "e"}, "base": {"files": 1, "chunks": 2},
        "ways": {"ragcli": FIGURES, "raw": FIGURES}, "turns": [], "lost": [lost], "times": {"without_answers": times}, **more,
    }  # fmt: skip


class Checker(html.parser.HTMLParser):
    """Notes what is opened and never closed, and everything that a page could load."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.wrong, self.loads, self.scripts = [], [], [], 0

    def handle_starttag(self, tag, attrs) -> None:
        names = dict(attrs)
        self.loads += [
            value for name, value in names.items() if name in ("src", "href", "action", "data", "srcset")
        ]
        self.scripts += tag == "script" or any(name.startswith("on") for name in names)
        if tag not in ("meta", "br", "link", "img", "rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        if tag in ("rect", "line"):
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_and_loads_nothing(language) -> None:
    text = html_report(report(), language)
    checker = Checker()
    checker.feed(text)
    assert (checker.open, checker.wrong, checker.loads, checker.scripts) == ([], [], [], 0)
    assert not re.search(r"https?://|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert "<details>" in text


def test_text_of_documents_and_models_is_shown_and_never_obeyed() -> None:
    text = html_report(report(), "en")
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert safe(NASTY) in text


def test_bars_carry_their_figure_and_interval_for_readers_that_see_none() -> None:
    assert 'aria-label="1.000 (0.90–1.00)"' in html_report(report(), "en")


def test_a_report_with_nothing_lost_and_one_without_retrieval_are_pages_too() -> None:
    assert words("en")["none_lost"] in html_report(report(lost=[]), "en")
    alone = {"rewriting": FIGURES["rewriting"]}
    assert "ROUGE-L" in html_report(report(ways={"ragcli": alone}, lost=[]), "zh")


def test_both_languages_say_the_same_things() -> None:
    assert set(words("en")) == set(words("zh"))


def test_markdown_rows_have_as_many_cells_as_their_heads() -> None:
    rows = [line for line in markdown_report(report(), "en").splitlines() if line.startswith("|")]
    for before, after in itertools.pairwise(rows):
        if set(before) <= set("|-"):
            assert len(re.findall(r"(?<!\\)\|", after)) == before.count("|")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine: the page's layout isn't checked")
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it_without_sideways_scrolling_narrow_and_wide(tmp_path, dark) -> None:
    # Frames of two widths, since a headless window can't be made as narrow as a telephone; the page itself allows no script.
    inner = re.sub(r"<meta http-equiv[^>]*>", "", html_report(report(), "zh"))
    (tmp_path / "inner.html").write_text(inner, encoding="utf-8")
    script = (
        "<script>onload=()=>{document.body.dataset.seen=[...document.querySelectorAll('iframe')].map(f=>{"
        "const d=f.contentDocument,s=getComputedStyle(d.body);return [f.clientWidth,d.documentElement.scrollWidth,"
        "d.querySelectorAll('svg').length,s.color,s.backgroundColor].join(';')}).join('|')}</script>"
    )
    frames = "".join(
        f'<iframe src="inner.html" style="width:{width}px;height:800px;border:0"></iframe>'
        for width in (360, 1400)
    )
    outer = page("t", "en", frames + script)
    (tmp_path / "outer.html").write_text(re.sub(r"<meta http-equiv[^>]*>", "", outer), encoding="utf-8")
    argv = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=2000",
        f"--user-data-dir={tmp_path / 'profile'}", f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom",
        (tmp_path / "outer.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    seen = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert seen, done.stderr[-500:]
    colours = ["rgb(228, 232, 238)", "rgb(20, 24, 30)"] if dark else ["rgb(28, 36, 48)", "rgb(255, 255, 255)"]
    for frame in seen[1].split("|"):
        width, needed, bars, *shown = frame.split(";")
        assert int(needed) <= int(width)
        assert int(bars) >= 2
        assert shown == colours
