"""The exceptions of the package."""

from __future__ import annotations


class LcpError(Exception):
    """An error of LCP."""

    #: The failure and its place.
    message: str
    #: The stable code of an error that has one, such as ``LCP-BUD-001``.
    code: str | None
    #: A remedy.
    hint: str | None

    def __init__(self, message: str, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class UsageError(LcpError, ValueError):
    """An argument is invalid, or arguments contradict each other."""


class MalformedError(LcpError, ValueError):
    """A pack or another input is malformed."""


class OverBudgetError(LcpError, ValueError):
    """The content that must be kept exceeds the budget."""


class LimitError(LcpError, ValueError):
    """An input exceeds a limit."""


class FileError(LcpError, OSError):
    """Something could not be read or written."""
