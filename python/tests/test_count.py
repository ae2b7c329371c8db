"""Token counts."""

import threading

import pytest
import tiktoken_counts

import lcp


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"])
def test_counts_are_exact(name: str) -> None:
    encoding = lcp.Encoding(name)
    assert encoding.is_exact
    for text, count in tiktoken_counts.COUNTS[name].items():
        assert encoding.count(text) == count, text
    texts = list(tiktoken_counts.COUNTS[name])
    assert encoding.count_batch(texts) == list(tiktoken_counts.COUNTS[name].values())


def test_ids_are_decoded_again() -> None:
    encoding = lcp.Encoding("o200k_base")
    assert encoding.encode("hello world") == [24912, 2375]
    for text in tiktoken_counts.TEXTS:
        ids = encoding.encode(text)
        assert len(ids) == encoding.count(text)
        assert encoding.decode(ids) == text
        assert encoding.decode_bytes(ids) == text.encode()
    with pytest.raises(lcp.UsageError, match="position 1"):
        encoding.decode([24912, 4_000_000_000])
    with pytest.raises(lcp.UsageError, match="no public ids"):
        lcp.Encoding(model="claude-sonnet-4-5").encode("text")


def test_models_choose_the_encoding() -> None:
    assert lcp.Encoding(model="gpt-5").name == "o200k_base"
    assert lcp.Encoding(model="gpt-4").name == "cl100k_base"
    assert not lcp.Encoding(model="claude-sonnet-4-5").is_exact
    assert lcp.count("a budget is a promise") == 5


def test_unknown_names_are_errors() -> None:
    with pytest.raises(lcp.UsageError, match='unknown model "no-such-model"') as error:
        lcp.count("text", model="no-such-model")
    # Hints of the command name flags, which Python does not have.
    assert error.value.hint is None
    with pytest.raises(lcp.LcpError):
        lcp.Encoding("no_such_encoding")


def test_other_types_and_surrogates_are_errors() -> None:
    with pytest.raises(TypeError):
        lcp.count(5)  # type: ignore[arg-type]
    with pytest.raises(lcp.UsageError, match="text: the text has half of a surrogate pair"):
        lcp.count("\ud800")


def test_other_threads_run_while_a_long_text_is_counted() -> None:
    encoding = lcp.Encoding("o200k_base")
    text = "a budget is a promise, and here are more words of it. " * 400_000
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    encoding.count(text)
    during = ticks - before
    done.set()
    thread.join()
    assert during > 2
