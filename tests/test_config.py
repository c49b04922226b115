from pathlib import Path

import pytest

from ragcli import config
from ragcli.config import Settings, apply_environment, apply_table, load_settings
from ragcli.errors import UsageError


def test_flags_aside_the_environment_beats_the_base_and_the_base_beats_the_person(tmp_path: Path) -> None:
    base, home = tmp_path / "base", tmp_path / "config"
    (home / "ragcli").mkdir(parents=True)
    base.mkdir()
    (home / "ragcli" / "config.toml").write_text("[retrieval]\nk = 7\npassages = 2\n[rewrite]\nmode = 'off'")
    (base / "ragcli.toml").write_text("[retrieval]\nk = 8\npassages = 3")
    settings = load_settings(base, {"XDG_CONFIG_HOME": str(home), "RAGCLI_RETRIEVAL_K": "9"})
    assert (settings.retrieval.k, settings.retrieval.passages, settings.rewrite.mode) == (9, 3, "off")


def test_the_file_that_init_writes_changes_nothing() -> None:
    import tomllib

    text = config.default_file()
    assert apply_table(Settings(), tomllib.loads(text), "x") == Settings()
    enabled = "\n".join(
        line.removeprefix("# ") if " = " in line and "pattern" not in line and "level" not in line else line
        for line in text.splitlines()
    )
    assert apply_table(Settings(), tomllib.loads(enabled), "x") == Settings()


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ({"retrieval": {"kk": 3}}, "unknown_setting"),
        ({"retrival": {"k": 3}}, "unknown_setting"),
        ({"retrieval": {"k": "many"}}, "bad_setting"),
        ({"retrieval": {"k": 0}}, "bad_setting"),
        ({"retrieval": {"k": True}}, "bad_setting"),
        ({"rewrite": {"mode": "magic"}}, "bad_setting"),
        ({"ingest": {"include": "x", "encoding": 3}}, "bad_setting"),
        ({"headings": [{"pattern": "(", "level": 1}]}, "bad_heading_rule"),
        ({"headings": [{"pattern": "x", "level": 0}]}, "bad_heading_rule"),
    ],
)
def test_a_wrong_setting_is_named_where_it_stands(table: dict, kind: str) -> None:
    with pytest.raises(UsageError) as wrong:
        apply_table(Settings(), table, "ragcli.toml")
    assert wrong.value.kind == kind
    assert wrong.value.fields["where"] == "ragcli.toml"


def test_an_unknown_key_names_the_nearest_known_one() -> None:
    with pytest.raises(UsageError) as wrong:
        apply_environment(Settings(), {"RAGCLI_RETRIEVAL_THRESHHOLD": "1"})
    assert wrong.value.fields["nearest"] == "retrieval.threshold"


def test_the_base_is_the_flag_the_variable_the_nearest_above_or_the_default(tmp_path: Path) -> None:
    (tmp_path / "ragcli.toml").write_text("")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert config.base_dir("x", {"RAGCLI_KB": "y"}, deep) == Path("x")
    assert config.base_dir(None, {"RAGCLI_KB": "y"}, deep) == Path("y")
    assert config.base_dir(None, {}, deep) == tmp_path
    assert config.base_dir(None, {"XDG_DATA_HOME": "/data"}, Path("/")) == Path("/data/ragcli/default")


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "ragcli.toml").write_text("[retrieval\nk = 1")
    with pytest.raises(UsageError) as wrong:
        load_settings(tmp_path, {})
    assert "line 1" in str(wrong.value.fields["reason"])
