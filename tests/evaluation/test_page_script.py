"""The script that writes the page of figures fills every mark, and keeps what a person wrote."""

import importlib.util
import json
from pathlib import Path

from tests.evaluation.test_eval_command import run

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("evaluation_page", ROOT / "scripts" / "evaluation_page.py")
page_script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page_script)


def test_the_page_is_filled_between_its_marks_and_again(measured, monkeypatch) -> None:
    report = run(measured, "set", "--ablate", "--answers", "2")
    measured.write("r.json", json.dumps(report))
    page = measured.write("page.md", (ROOT / "docs" / "evaluation.md").read_text("utf-8"))
    monkeypatch.setattr("sys.argv", ["x", "r.json", "r.json", "--page", str(page)])
    page_script.main()
    first = page.read_text("utf-8")
    assert "second turns, found | 55 → 78 %" in first
    assert "fixed-size pieces" in first
    assert "## Writing your own cases" in first
    page_script.main()
    assert page.read_text("utf-8") == first
