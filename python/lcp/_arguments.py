"""Checks of arguments. Each error names its argument."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from ._errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")

#: The largest number of an argument.
NUMBER_MAX = 2**32 - 1


def wrong_type(name: str, expected: str, value: object) -> NoReturn:
    """Raise the error for an argument of another type."""
    raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}")


def text(name: str, value: object) -> str:
    """Return a string that can be encoded as UTF-8."""
    if not isinstance(value, str):
        wrong_type(name, "a string", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise UsageError(f"{name}: half of a surrogate pair ({half!a})") from error
    return value


def optional_text(name: str, value: object) -> str | None:
    """Return a string, or ``None``."""
    return None if value is None else text(name, value)


def texts(name: str, values: object) -> list[str]:
    """Return a list of strings."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        wrong_type(name, "a list of strings", values)
    listed = cast("Iterable[object]", values)
    return [text(f"{name}[{at}]", value) for at, value in enumerate(listed)]


def indices(name: str, values: object, count: int) -> list[int]:
    """Return a list of indices below ``count``."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        wrong_type(name, "a list of indices", values)
    listed = list(cast("Iterable[object]", values))
    for at, value in enumerate(listed):
        if isinstance(value, bool) or not isinstance(value, int):
            wrong_type(f"{name}[{at}]", "an index", value)
        if not 0 <= value < count:
            raise UsageError(f"{name}[{at}]: expected an index below {count}, got {value}")
    return cast("list[int]", listed)


def path(name: str, value: object) -> str:
    """Return a path as a string."""
    if not isinstance(value, (str, os.PathLike)):
        wrong_type(name, "a path", value)
    found = os.fspath(cast("os.PathLike[str]", value))
    if not isinstance(found, str):
        wrong_type(name, "a path of text", found)
    if "\0" in found:
        raise UsageError(f"{name}: a path with a null character")
    try:
        os.fsencode(found)
    except UnicodeEncodeError as error:
        raise UsageError(f"{name}: half of a surrogate pair") from error
    return found


def tokens(name: str, value: object, least: int = 0) -> int:
    """Return a number of tokens."""
    return _number(name, value, "a number of tokens", least)


def _number(name: str, value: object, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        wrong_type(name, what, value)
    if not least <= value <= NUMBER_MAX:
        raise UsageError(f"{name}: expected {what} from {least} to 2^32 - 1, got {value}")
    return value


def optional_tokens(name: str, value: object, least: int = 0) -> int | None:
    """Return a number of tokens, or ``None``."""
    return None if value is None else tokens(name, value, least)


def optional_seconds(name: str, value: object) -> int | None:
    """Return a number of seconds, or ``None``."""
    return None if value is None else _number(name, value, "a number of seconds", 0)


def in_thread(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the async version of a function: it runs in a thread, so the event loop continues."""

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio

        return await asyncio.to_thread(function, *args, **kwargs)

    name = function.__name__
    run.__name__ = f"a{name}"
    run.__qualname__ = f"{function.__qualname__.removesuffix(name)}a{name}"
    run.__module__ = function.__module__
    run.__doc__ = f"Do the same as ``{name}`` without blocking the event loop."
    run.__wrapped__ = function  # type: ignore[attr-defined]
    return run
