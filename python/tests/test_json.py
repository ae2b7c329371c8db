"""Messages as JSON."""

import enum
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcp._lcp import encode_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda values: st.lists(values) | st.tuples(values, values) | st.dictionaries(TEXTS, values),
)


def dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@given(VALUES)
def test_values_are_written_as_by_json(value: Any) -> None:
    assert encode_json(value) == dumps(value)


def test_escapes_are_those_of_json() -> None:
    text = "".join(map(chr, range(0x100))) + "\u2028🦀"
    assert encode_json([{text: text}]) == dumps([{text: text}])


class Color(enum.IntEnum):
    RED = 1


class Text(str):
    pass


class Fields(dict[str, int]):
    pass


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": 1},
        {1: "a"},
        b"bytes",
        object(),
        Color.RED,
        Text(),
        {Text(): 1},
        Fields(),
        CYCLE,
    ],
)
def test_other_values_are_left_to_json(value: Any) -> None:
    assert encode_json([value]) is None


def test_numbers_of_too_many_digits_are_left_to_json() -> None:
    assert encode_json([10**5_000]) is None


def test_deep_values_are_left_to_json() -> None:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    assert encode_json(value) is None
