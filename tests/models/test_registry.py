import pytest

from ragcli.models.registry import load_registry


def test_the_parts_of_a_file_add_up_to_it():
    for entry in load_registry().models:
        for item in entry.files:
            assert not item.parts or sum(part.bytes for part in item.parts) == item.bytes, item.file


def test_every_hash_is_a_sha256_and_no_part_stands_twice():
    parts = [part for entry in load_registry().models for item in entry.files for part in item.parts]
    hashes = [item.sha256 for entry in load_registry().models for item in entry.files] + [
        part.sha256 for part in parts
    ]
    assert all(len(value) == 64 and int(value, 16) >= 0 for value in hashes)
    assert (
        len({(part.package, part.member) for part in parts})
        == len(parts)
        == len({part.sha256 for part in parts})
    )


def test_every_profile_has_an_embedding_model_and_a_generator():
    registry = load_registry()
    assert set(registry.profiles) == {"default", "small", "mini-pc"}
    for names in registry.profiles.values():
        roles = {role for name in names for role in registry.find(name).roles}
        assert roles == {"embedding", "query", "rewriter", "generator"}


def test_the_default_settings_name_models_of_the_default_profile():
    from ragcli.config import Settings

    settings = Settings()
    assert set(load_registry().profiles["default"]) == {settings.embedding.model, settings.generation.model}


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("qwen2.5-coder-1.5b", "qwen2.5-coder-1.5b-instruct"),
        ("e5-small", "multilingual-e5-small"),
        ("", "qwen"),
    ],
)
def test_a_wrong_name_has_a_nearest_one(typed, nearest):
    assert load_registry().find(typed) is None
    assert load_registry().nearest(typed).startswith(nearest) or not typed
