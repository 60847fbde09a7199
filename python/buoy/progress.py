"""How far long work is: a bar in a notebook, a line on a terminal, nothing elsewhere."""

import html
import sys
import time

from .errors import usage

__all__ = ["show_progress"]

_EARLIEST = 0.7   # seconds; what is over by then is not shown
_INTERVAL = 0.2
_wanted = None


def show_progress(on=None):
    """Whether long calls show how far they are: True, False, or None, where somebody looks: in notebooks and terminals.
    ``progress=`` of a single call goes first.

    >>> import buoy
    >>> buoy.show_progress(False)
    >>> buoy.show_progress()          # as at the beginning
    """
    global _wanted
    _wanted = _checked(on)


def _checked(on):
    if on is not None and not isinstance(on, bool):
        raise usage("`progress`", "True, False or None", repr(on))
    return on


def in_notebook():
    """Whether a notebook's kernel runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _display():
    if in_notebook():
        return _Cell()
    return _Line(sys.stderr)


class Shown:
    """Shows the progress of one piece of work, in a ``with`` block; `progress`: True, False, None, or a function that is
    called with how many are done and how many there are. Called with (stage, label, done, total)."""

    def __init__(self, progress=None):
        self._told = progress if callable(progress) else None
        on = _wanted if progress is None else True if self._told else _checked(progress)
        if on is None:
            on = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        self._on = on
        self._display = None
        self._begun = self._last = time.monotonic()

    @property
    def callback(self):
        """What long work is given: a function, or None."""
        return self if self._on else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._display is not None:
            self._display.clear()
            self._display = None

    def __call__(self, stage, label, done, total):
        if not self._on:
            return
        if self._told is not None:
            if total > 0:
                self._told(done, total)
            return
        now = time.monotonic()
        over = self._display is None and done >= total > 0
        if over or now - self._begun < _EARLIEST or now - self._last < _INTERVAL:
            return
        self._last = now
        self._display = self._display or _display()
        self._display.show(line_of(stage, label, done, total, now - self._begun), done, total)


def line_of(stage, label, done, total, seconds):
    """In words: ``"2 of 3: report: samples 3/8, 6 s so far"``."""
    counted = f"{label} {done}/{total}" if total > 0 else ""
    return ": ".join(filter(None, [stage, counted])) + f", {_duration(seconds)} so far"


def _duration(seconds):
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


class _Line:
    """On a terminal, rewritten in place."""

    def __init__(self, stream):
        self._stream = stream

    def _put(self, text):
        try:
            self._stream.write("\r\033[K" + text)
            self._stream.flush()
        except (OSError, ValueError):
            pass  # nobody is left to be told

    def show(self, line, done, total):
        self._put(line)

    def clear(self):
        self._put("")


class _Cell:
    """Below a cell of a notebook; gone when the work is done."""

    def __init__(self):
        from IPython.display import display
        self._handle = display(self._bundle("", ""), display_id=True, raw=True)

    def _bundle(self, line, bar):
        block = f'<div style="font-variant-numeric:tabular-nums">{bar}{html.escape(line)}</div>' if line else ""
        return {"text/plain": line, "text/html": block}

    def show(self, line, done, total):
        bar = f'<progress value="{done}" max="{total}" style="width:16em;margin-right:1em"></progress>' if total > 0 else ""
        self._handle.update(self._bundle(line, bar), raw=True)

    def clear(self):
        self._handle.update(self._bundle("", ""), raw=True)
