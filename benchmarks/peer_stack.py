"""Measure whole answers beside a LangChain stack: same documents, cases, language model and embedding model.

    python -m venv peer && peer/bin/pip install langchain-classic langchain-community langchain-text-splitters
    python benchmarks/peer_stack.py CASES --peer peer [--turns 60] [--seed 1] [--minutes 4] [--work DIR]

CASES is a folder with `cases.jsonl` and `docs/` (or text files beside it). The stack is LangChain's own recipe for
talking to documents: recursive splitter, FAISS, a chain that condenses history and question into one question, a
chain that stuffs four pieces into the prompt. It is given ragcli's decoded texts. The same turns, whole conversations
drawn by seed, are asked of both and judged by `ragcli eval`'s rules. Finished turns are kept in DIR: a run that is cut
by --minutes goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from ragcli.config import load_settings, models_dir
from ragcli.datatypes import Json
from ragcli.documents.decode import decode
from ragcli.evaluation.answers import answers, costs
from ragcli.evaluation.cases import Case, CaseSet
from ragcli.evaluation.outcome import Outcome
from ragcli.evaluation.retrieval import retrieval
from ragcli.pipeline.engine import TurnOptions
from ragcli.pipeline.evaluate_cases import Home, Wanted, case_files, prepare, read_cases
from ragcli.pipeline.evaluate_run import EvalOptions, Measurement, drawn, measure
from ragcli.pipeline.models import model_path

# LangChain's documented prompts for a history-aware question and for stuffing documents.
CONDENSE = (
    "Given a chat history and the latest user question which might reference context in the chat history, "
    "formulate a standalone question which can be understood without the chat history. Do NOT answer the question, "
    "just reformulate it if needed and otherwise return it as is."
)
ANSWER = (
    "You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer the "
    "question. If you don't know the answer, say that you don't know. Use three sentences maximum and keep the answer "
    "concise.\n\n{context}"
)
SHOWN, LISTED = 4, 10
TURNS = ("turn1", "turn2", "turn3", "turn4")


class Store:
    """LangChain's splitter and FAISS store, kept in a folder once they are made."""

    def __init__(self, documents: dict[str, str], settings: Any, folder: Path, place: Path) -> None:
        from langchain_community.vectorstores import FAISS
        from langchain_core.documents import Document
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        embedding = e5(model_path(settings.embedding.model, "embedding", folder))
        if place.is_dir():
            self.store = FAISS.load_local(str(place), embedding, allow_dangerous_deserialization=True)
            return
        splitter = RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=80)
        files = [Document(text, metadata={"source": name}) for name, text in documents.items()]
        self.store = FAISS.from_documents(splitter.split_documents(files), embedding)
        self.store.save_local(str(place))

    def find(self, query: str) -> list[Any]:
        """Return the pieces found."""
        return list(self.store.similarity_search(query, k=LISTED))


class Chains:
    """The two chains of LangChain's documentation: condense the question, stuff the pieces into the prompt."""

    def __init__(self, settings: Any, folder: Path) -> None:
        from langchain_classic.chains.combine_documents import create_stuff_documents_chain
        from langchain_community.chat_models import ChatLlamaCpp
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

        gguf = model_path(settings.generation.model, "generator", folder)
        model = ChatLlamaCpp(
            model_path=str(gguf),
            n_ctx=4096,
            temperature=0.0,
            max_tokens=400,
            n_threads=os.cpu_count(),
            verbose=False,
        )
        history = MessagesPlaceholder("chat_history")
        asking = ChatPromptTemplate.from_messages([("system", CONDENSE), history, ("human", "{input}")])
        telling = ChatPromptTemplate.from_messages([("system", ANSWER), history, ("human", "{input}")])
        self.condense = asking | model | StrOutputParser()
        self.answer = create_stuff_documents_chain(model, telling)

    def turn(self, store: Store, query: str, said: list[tuple[str, str]]) -> Json:
        """Return a turn in the form of ragcli's records."""
        history = [message for user, reply in said for message in (("human", user), ("ai", reply))]
        started = time.perf_counter()
        asked = self.condense.invoke({"input": query, "chat_history": history}).strip() if said else query
        condensed = time.perf_counter()
        found = store.find(asked)
        searched = time.perf_counter()
        text = self.answer.invoke({"input": query, "chat_history": history, "context": found[:SHOWN]})
        done = time.perf_counter()
        spent = {
            "rewrite": condensed - started, "retrieve": searched - condensed, "generate": done - searched,
            "total": done - started,
        }  # fmt: skip
        record = searched_only(query, asked, found)
        return record | {
            "answer": text.strip(), "timings_ms": {name: round(1000 * value, 1) for name, value in spent.items()},
        }  # fmt: skip


def searched_only(query: str, asked: str, found: list[Any]) -> Json:
    """Return a record of what was found for a question."""
    hits = [
        {"file": item.metadata["source"], "kind": "text", "text": item.page_content, "chunk_id": str(n)}
        for n, item in enumerate(found)
    ]
    return {
        "query": query,
        "rewritten": [asked],
        "action": "answer",
        "answer": "",
        "hits": hits,
        "citations": [],
    }


def e5(folder: Path) -> Any:
    """Return the embedding model with its prefixes, as LangChain wants one."""
    from langchain_core.embeddings import Embeddings
    from sentence_transformers import SentenceTransformer

    # The file holds half precision, which a processor without it computes slowly.
    model = SentenceTransformer(str(folder), model_kwargs={"dtype": "float32"})

    class E5(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return model.encode([f"passage: {text}" for text in texts], normalize_embeddings=True).tolist()  # type: ignore[no-any-return]

        def embed_query(self, text: str) -> list[float]:
            return model.encode(f"query: {text}", normalize_embeddings=True).tolist()  # type: ignore[no-any-return]

    return E5()


def kept(path: Path) -> dict[str, Json]:
    """Return the turns that earlier runs finished."""
    rows = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {row["turn"]: row["record"] for row in map(json.loads, rows)}


def ask_stack(
    cases: CaseSet, path: Path, store: Store, make: Callable[[], Chains], out_of_time: Callable[[], bool]
) -> list[Outcome]:
    """Ask the stack every turn that isn't kept yet, until the time is up; return all kept ones."""
    done = kept(path)
    chains = None
    with path.open("a", encoding="utf-8") as file:
        for case, place in places(cases):
            key = f"{case.name}/{place}"
            if key in done or out_of_time():
                continue
            chains = chains or make()
            said = [
                (turn.query, done[f"{case.name}/{n}"]["answer"])
                for n, turn in enumerate(case.turns[: place - 1], 1)
            ]
            done[key] = chains.turn(store, case.turns[place - 1].query, said)
            file.write(json.dumps({"turn": key, "record": done[key]}, ensure_ascii=False) + "\n")
            file.flush()
    return [
        Outcome(case, case.turns[place - 1], done[f"{case.name}/{place}"])
        for case, place in places(cases)
        if f"{case.name}/{place}" in done
    ]


def places(cases: CaseSet) -> Iterator[tuple[Case, int]]:
    """Yield every turn as its case and number."""
    for case in cases.cases:
        for number in range(1, len(case.turns) + 1):
            yield case, number


def texts_of(folder: Path) -> dict[str, str]:
    """Return the decoded texts of a folder."""
    return {path.name: decode(path.read_bytes()).text for path in sorted(folder.glob("*.txt"))}


def ours(options: argparse.Namespace, work: Path) -> Json:
    """Measure ragcli on the same turns; a run that was cut goes on."""
    environ, cache = os.environ, work / "ragcli"
    home = Home(cache, lambda folder: load_settings(folder, environ), models_dir(environ), time.monotonic)
    ready = prepare(Wanted(options.cases), None, home, lambda _done, _total: None)
    turn = TurnOptions(rewrite=ready.base.settings.rewrite.mode, timeout=0.0)  # type: ignore[arg-type]
    asked = EvalOptions(turn, options.turns, options.seed)
    return measure(
        Measurement(
            ready.cases,
            ready.base,
            asked,
            cache,
            lambda _done, _total: None,
            time.time,
            date.today(),
            ready.same,
        )
    )


def rows_of(found: Json, told: Json | None = None, spent: Json | None = None) -> list[str]:
    """Return one column of the table; what wasn't measured is a dash."""
    by_turn = found["by_turn"]
    shares = [f"{by_turn[name]['hit5']:.3f}" if name in by_turn else "–" for name in TURNS]
    answered = [f"{told[name]:.3f}" for name in ("accuracy", "forbidden_values")] if told else ["–", "–"]
    seconds = f"{spent['ms']['total']['median'] / 1000:.1f}" if spent else "–"
    return [*shares, f"{found['all']['hit5']:.3f}", f"{found['all']['hit1']:.3f}", *answered, seconds]


ROWS = (
    "hit@5, turn 1", "hit@5, turn 2", "hit@5, turn 3", "hit@5, turn 4+", "hit@5", "hit@1", "answers right",
    "with forbidden values", "seconds a turn, median",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases")
    parser.add_argument("--peer", type=Path, required=True, help="an environment that has LangChain")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="stop the stack's turns after this long; 0: no limit"
    )
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--side", choices=("both", "stack", "ragcli"), default="both")
    options = parser.parse_args()
    # Behind ragcli's own packages, so that both use the same llama.cpp and sentence-transformers.
    sys.path += [str(path) for path in options.peer.glob("lib/python*/site-packages")]
    options.work.mkdir(parents=True, exist_ok=True)
    files = case_files(Path(options.cases))
    everything, problems = read_cases(files)
    if problems or files.documents is None:
        sys.exit(f"{options.cases}: no cases with documents beside them")
    cases = drawn(everything, options.turns, options.seed)
    columns: dict[str, list[str]] = {}
    if options.side != "ragcli":
        end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
        settings, folder = load_settings(None, os.environ), models_dir(os.environ)
        path = options.work / f"langchain-{cases.digest[:8]}-{options.seed}.jsonl"
        texts = texts_of(files.documents)
        store = Store(texts, settings, folder, options.work / f"faiss-{cases.digest[:8]}")
        typed = [
            Outcome(case, turn, searched_only(turn.query, turn.query, store.find(turn.query)))
            for case in everything.cases
            for turn in case.turns
        ]
        columns["LangChain, as typed, all turns"] = rows_of(retrieval(typed, 1))
        found = ask_stack(
            cases, path, store, lambda: Chains(settings, folder), lambda: time.monotonic() > end
        )
        if len(found) < cases.turns:
            print(f"{len(found)} of {cases.turns} turns are done; run again to go on", file=sys.stderr)
        if found:
            columns[f"LangChain, {len(found)} turns"] = rows_of(
                retrieval(found, 1), answers(found, 1), costs(found)
            )
    if options.side != "stack":
        report = ours(options, options.work)
        figures = report["answers"]["figures"]
        everywhere = report["ways"]["ragcli"]["retrieval"]
        columns["ragcli, all turns"] = rows_of(everywhere)
        columns[f"ragcli, {cases.turns} turns"] = rows_of(
            figures["retrieval"], figures["answers"], report["times"]["with_answers"]
        )
    print(f"{len(cases.cases)} conversations, {cases.turns} turns, seed {options.seed}")
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for place, name in enumerate(ROWS):
        print(f"| {name} | {' | '.join(column[place] for column in columns.values())} |")


if __name__ == "__main__":
    main()
