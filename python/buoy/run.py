"""A run of a model: what it wrote, and what was observed meanwhile."""

import html
import os
import tempfile

import numpy as np

from ._native import native
from .errors import Error, usage
from .trace import SampleView, Trace

__all__ = ["Run"]


class Run(SampleView):
    """What :meth:`buoy.Model.generate` returns. Arrays by name, as in a stored trace, without a copy; an array stays valid
    when the run is gone.

    >>> import buoy
    >>> m = buoy.load(buoy.example_model("planted-diffusion"))
    >>> run = m.generate("Question: Who employs Klados Hebwick?\\nAnswer:", max_new_tokens=8, observe="received")
    >>> run.text
    ' Emirex Group'
    >>> run["received"].dims
    ('step', 'layer', 'group', 'head', 'token')
    """

    def __init__(self, held):
        self._held = held
        self.metadata = {**held.metadata, "id": held.id}
        self._names = list(held.names)

    def keys(self):
        return list(self._names)

    def _array(self, name):
        return self._held.array(name)

    def save(self, folder):
        """Writes the run as a trace of one sample, as `buoy trace` would: the same bytes. Of a loop that was driven from
        Python, the manifest says in how many steps tokens were chosen or the model was changed."""
        if "steps" not in self:
            raise usage("run", "one that was observed (observe=...)", "one that was not")
        self._held.save(os.fspath(folder))

    def __repr__(self):
        observed = [name for name in self.keys() if name not in _FRAME]
        return f"<buoy.Run {self.id}: {self.text!r}; {len(self['tokens'])} tokens; observed: {', '.join(observed) or 'nothing'}>"

    def _repr_html_(self):
        return explored([self]) or tokens_html(self)


_FRAME = {"tokens", "revealed_at", "region_of_token", "ends", "evidence", "template", "special", "tokens_by_step", "steps",
          "layers", "group_sizes", "row_positions", "step_kinds", "rows_run", "reveals"}


def framed(page, height=720):
    """A page inside a notebook: in a frame of its own, so that neither styles the other."""
    return (f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0" '
            'sandbox="allow-scripts allow-popups allow-downloads"></iframe>')


def explored(samples, labels=(), difference=False, height=720):
    """The explorer of a report for runs and samples of traces, in a frame; None where there is nothing to draw, or nobody to
    draw it."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            shown = []
            for number, sample in enumerate(samples):
                label = labels[number] if labels else ""
                if isinstance(sample, Run):
                    if "received" not in sample:
                        return None
                    folder = os.path.join(scratch, str(number))
                    sample.save(folder)
                    shown.append((label, folder, 0))
                else:
                    folder = sample.path.parent.parent
                    shown.append((label, os.fspath(folder), Trace(folder, check=False).ids.index(sample.id)))
            return framed(native.explorer_page(shown, difference), height)
        except (ImportError, Error):
            return None


def tokens_html(sample):
    """The row, its answer marked: where nothing was observed that could be drawn."""
    texts = sample.token_texts or [str(id) for id in np.asarray(sample["tokens"])]
    begin = sample.prompt_length
    return ('<pre style="white-space:pre-wrap">' + html.escape("".join(texts[:begin])) + "<b>"
            + html.escape("".join(texts[begin:])) + "</b></pre>")
