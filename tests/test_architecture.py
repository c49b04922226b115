"""The rule of the rooms, read from the syntax trees: who may import whom, who may write, print and connect."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "ragcli"
ROOMS = ("documents", "embedding", "retrieval", "dialogue", "generation", "models", "evaluation", "storage")
SHARED = {"ragcli.datatypes", "ragcli.errors"}
MODULES = sorted(path for path in ROOT.rglob("*.py"))
# Each heavy library is imported by these modules and by no others.
ADAPTERS = {
    "faiss": {"retrieval/dense.py"},
    "tantivy": {"retrieval/lexical.py"},
    "openvino": {"embedding/compiled.py", "embedding/rounding.py"},
    "torch": {"embedding/sentence.py", "embedding/rounding.py"},
    "transformers": {"embedding/sentence.py", "embedding/rounding.py"},
    "sentence_transformers": {"embedding/sentence.py", "retrieval/cross_encoder.py"},
    "llama_cpp": {"generation/llm.py", "generation/native.py", "models/processor.py"},
    "gguf": set(),
    "safetensors": set(),
    "tokenizers": {"embedding/tokens.py", "embedding/compiled.py"},
    "filelock": {"storage/lock.py"},
    "sqlite3": {"storage/database.py", "storage/store.py", "storage/sessions.py"},
    "prompt_toolkit": {"cli/repl.py"},
}
NETWORK = {"socket", "urllib", "http", "httpx", "requests", "aiohttp"}
# `models pull` reaches the package registry through pip (models/packages.py) or a hub that the user configured.
NETWORK_ADAPTERS = {"models/hub.py", "generation/server.py", "embedding/endpoint.py"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "ragcli"}
    return found


def called(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            found.add(ast.unparse(node.func))
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_room_knows_the_shared_values_and_itself_alone(path: Path) -> None:
    room = name_of(path).split("/")[0]
    own = {name for name in imports(path) if name.startswith("ragcli.")}
    if room in ROOMS:
        foreign = {name for name in own if name not in SHARED and not name.startswith(f"ragcli.{room}")}
    elif room in ("datatypes.py", "errors.py"):
        foreign = own - SHARED
    elif room == "pipeline":
        foreign = {name for name in own if name.startswith("ragcli.cli")}
    else:
        foreign = set()
    assert not foreign


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_heavy_library_is_imported_by_its_adapter_alone(path: Path) -> None:
    heads = {name.split(".")[0] for name in imports(path)}
    for library, adapters in ADAPTERS.items():
        assert library not in heads or name_of(path) in adapters, library


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_heavy_library_is_imported_only_when_it_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    heads = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            heads |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            heads.add(node.module.split(".")[0])
    assert not heads & (set(ADAPTERS) - {"sqlite3"})


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_an_adapter_can_reach_a_network(path: Path) -> None:
    heads = {name.split(".")[0] for name in imports(path)}
    assert not heads & NETWORK or name_of(path) in NETWORK_ADAPTERS


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_storage_writes_files(path: Path) -> None:
    if name_of(path) == "storage/files.py":
        return
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        assert name not in (
            "os.replace",
            "os.rename",
            "os.unlink",
            "os.remove",
            "shutil.rmtree",
            "shutil.move",
            "shutil.copy",
        ), name
        assert not name.endswith((".write_text", ".write_bytes", ".unlink", ".touch")), name
        if name in ("open", "io.open") or name.endswith(".open"):
            modes = [
                arg.value
                for arg in [*node.args, *(k.value for k in node.keywords)]
                if isinstance(arg, ast.Constant)
            ]
            assert not any(
                isinstance(mode, str) and set(mode) <= set("rwxab+t") and set(mode) & set("wxa+")
                for mode in modes
            ), ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_prints_but_the_screen(path: Path) -> None:
    assert "print" not in called(path)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


def test_each_module_is_one_idea() -> None:
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
