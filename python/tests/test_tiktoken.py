"""Counts beside tiktoken itself, for texts that nobody chose."""

import pytest
import tiktoken_files
from hypothesis import given, settings
from hypothesis import strategies as st

import lcp

#: Texts of any characters except halves of surrogate pairs, with runs that tokenizers treat apart.
RUNS = ["the ", "fn ", "  ", "\n", "日本", "🦀", "'s", "123", "<|endoftext|>"]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.lists(st.sampled_from(RUNS)).map("".join),
)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"])
@settings(deadline=None, max_examples=150)
@given(text=TEXTS)
def test_ids_are_those_of_tiktoken(name: str, text: str) -> None:
    ids = tiktoken_files.load(name).encode_ordinary(text)
    encoding = lcp.Encoding(name)
    assert encoding.encode(text) == ids
    assert encoding.count(text) == len(ids)
    assert encoding.decode(ids) == text


@settings(deadline=None, max_examples=50)
@given(
    contents=st.lists(TEXTS, min_size=1, max_size=12),
    budget=st.integers(40, 400),
    mode=st.sampled_from(["xml", "markdown", "minimal"]),
)
def test_rendered_texts_stay_within_the_budget(contents: list[str], budget: int, mode: str) -> None:
    blocks = [
        {"type": "code", "path": f"{at}.py", "content": content, "priority": "low"}
        for at, content in enumerate(contents)
    ]
    pack = lcp.Pack.from_blocks(blocks)
    text = pack.render(budget, mode=mode)
    assert tiktoken_files.count([text]) <= budget
    assert pack.report(budget, mode=mode).used_tokens == tiktoken_files.count([text])
