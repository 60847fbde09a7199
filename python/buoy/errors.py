"""What Buoy raises: one family, below :class:`Error`.

The message says where something is wrong, what was expected there and what was found; ``where``, ``expected`` and
``found`` hold the three apart, or None where a message has another form.

>>> error = UsageError("`steps`: expected a whole number, found 'many'")
>>> error.where, error.expected, error.found
('`steps`', 'a whole number', "'many'")
>>> isinstance(error, Error)
True
"""

import re

__all__ = ["Error", "InputError", "UsageError", "IoError", "InternalError"]

_FORM = re.compile(r"(?P<where>.*?): expected (?P<expected>.*), found (?P<found>.*)", re.DOTALL)


class Error(Exception):
    """Everything that Buoy raises on purpose."""

    def __init__(self, message=""):
        super().__init__(message)
        form = _FORM.fullmatch(str(message))
        self.where = form["where"] if form else None
        self.expected = form["expected"] if form else None
        self.found = form["found"] if form else None


class InputError(Error):
    """A file, folder or text does not hold what it must."""


class UsageError(Error, ValueError):
    """A request that makes no sense: options that contradict each other, ids out of range."""


class IoError(Error, OSError):
    """The operating system refused: an unreadable file, a full disk."""


class InternalError(Error):
    """A promise inside Buoy was broken: a bug, never yours."""


def usage(where, expected, found):
    """The error of a request, in the form that all share."""
    return UsageError(f"{where}: expected {expected}, found {found}")
