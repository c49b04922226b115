"""A language model on a server of the user's: both roles, and nothing that a base from elsewhere could set."""

import json

import pytest


def said(text):
    return {"choices": [{"delta": {"content": text}, "finish_reason": None}]}


@pytest.fixture
def base(ragcli):
    ragcli.write(
        "docs/gx1.txt", "第一章 参数\nGX-1 的水箱容量是 4 升。\n\n第二章 清洁\n滤网每 30 天清洗一次。\n"
    )
    ragcli.built("docs")
    return ragcli


def test_answers_come_from_the_server_and_say_so_where_it_is_gone(base, serve):
    url, asked = serve(said("GX-1 的水箱容量是 4 升 [1]。"))
    base.environ |= {
        "RAGCLI_GENERATION_URL": url,
        "RAGCLI_GENERATION_API_KEY": "sk-1",
        "RAGCLI_GENERATION_MODEL": "big",
    }
    done = base("ask", "GX-1 的水箱多大？", "--json")
    assert done.code == 0
    assert "4 升" in done.json["answer"]
    _, headers, body = asked[-1]
    assert (headers["Authorization"], body["model"]) == ("Bearer sk-1", "big")
    assert "sk-1" not in done.out + done.err
    base.environ["RAGCLI_GENERATION_URL"] = "http://127.0.0.1:9/v1"
    gone = base("ask", "GX-1 的水箱多大？")
    assert gone.code == 14
    assert "127.0.0.1:9" in gone.err
    assert "start it" in gone.err


def test_the_rewriter_may_have_a_server_of_its_own(base, serve):
    answers, _ = serve(said("GX-1 的水箱容量是 4 升 [1]。"))
    rewrites, asked = serve(said(json.dumps({"query": "GX-1 的滤网多久清洗一次？"}, ensure_ascii=False)))
    base.environ |= {
        "RAGCLI_GENERATION_URL": answers, "RAGCLI_GENERATION_API_KEY": "sk-1",
        "RAGCLI_REWRITE_URL": rewrites, "RAGCLI_REWRITE_MODEL": "small",
    }  # fmt: skip
    base("ask", "GX-1 的水箱多大？", "--session", "s", "--rewrite", "llm")
    done = base("ask", "它多久洗一次", "--session", "s", "--rewrite", "llm", "--no-generate", "--json")
    assert done.json["rewritten"][0] == "GX-1 的滤网多久清洗一次？"
    assert asked[0][2]["model"] == "small"
    assert "Authorization" not in asked[0][1]


@pytest.mark.parametrize("line", ['[generation]\nurl = "http://elsewhere/v1"', '[rewrite]\napi_key = "sk"'])
def test_a_base_cannot_send_its_reader_to_a_server(base, line):
    (base.folder / "kb" / "ragcli.toml").write_text(line, encoding="utf-8")
    done = base("ask", "GX-1 的水箱多大？")
    assert done.code == 2
    assert "elsewhere" not in done.out


def test_doctor_asks_the_server(base, serve):
    url, asked = serve(said("2"))
    base.environ |= {"RAGCLI_GENERATION_URL": url}
    done = base("doctor")
    assert url in done.out + done.err
    assert asked[0][2]["max_tokens"] == 1
    base.environ["RAGCLI_GENERATION_URL"] = "http://127.0.0.1:9/v1"
    assert base("doctor").code != 0


def test_an_address_is_shown_without_its_password_and_a_generator_alone_is_checked(base, serve):
    url, asked = serve(said("2"))
    base.environ |= {
        "RAGCLI_GENERATION_URL": url.replace("//", "//me:secret@"),
        "RAGCLI_REWRITE_MODEL": "small",
    }
    done = base("doctor")
    assert "secret" not in done.out + done.err
    assert url in done.out + done.err
    assert len(asked) == 1
