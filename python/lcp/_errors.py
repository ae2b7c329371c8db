"""The exceptions of the package."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class LcpError(Exception):
    """An error of LCP.

    Attributes:
        message: The failure and its place.
        code: The stable code of an error that has one, such as ``LCP-BUD-001``.
        hint: A remedy.
    """

    message: str
    code: str | None
    hint: str | None

    def __init__(self, message: str, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled when they leave a worker process.
        return type(self), (self.message, self.code, self.hint)


class UsageError(LcpError, ValueError):
    """An argument is invalid, or arguments contradict each other."""


class MalformedError(LcpError, ValueError):
    """A pack or another input is malformed."""


class OverBudgetError(LcpError, ValueError):
    """The content that must be kept exceeds the budget."""


class LimitError(LcpError, ValueError):
    """An input exceeds a limit."""


class SessionError(LcpError):
    """A store of sessions failed or refused an operation. ``code`` tells why."""


class FileError(LcpError, OSError):
    """Something could not be read or written. It has the fields of ``OSError``."""

    def __init__(
        self,
        message: str,
        code: str | None = None,
        hint: str | None = None,
        errno: int | None = None,
        filename: str | None = None,
    ) -> None:
        super().__init__(message, code, hint)
        self.errno = errno
        self.filename = filename
        if errno is not None:
            import os

            self.strerror = os.strerror(errno)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.code, self.hint, self.errno, self.filename)
