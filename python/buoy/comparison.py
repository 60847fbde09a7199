"""Two runs beside each other, or two evaluations of the same questions."""

import html

import numpy as np

from ._native import native
from .errors import usage
from .evaluation import Estimate, Evaluation
from .run import explored, tokens_html
from .arrays import Array
from .trace import SampleView

__all__ = ["Comparison", "compare"]


class Comparison:
    """Two runs, or samples of traces, beside each other: ``a`` and ``b``. In a notebook: the explorer of both, with what `a`
    has more than `b` in the first panel where their prompts are the same. ``comparison["received"]`` is the difference.

    >>> import buoy
    >>> m = buoy.load(buoy.example_model("planted-diffusion"))
    >>> prompt = "Question: Who employs Klados Hebwick?\\nAnswer:"
    >>> plain = m.generate(prompt, max_new_tokens=4, observe="entropy")
    >>> with m.changed(scale_heads={(0, 0): 0}):
    ...     changed = m.generate(prompt, max_new_tokens=4, observe="entropy")
    >>> buoy.compare(changed, plain)["entropy"].dims
    ('step', 'layer', 'head', 'token')
    """

    def __init__(self, a, b, labels=None):
        if labels is not None and (isinstance(labels, str) or len(labels) != 2 or not all(isinstance(one, str) for one in labels)):
            raise usage("`labels`", "two texts", repr(labels)[:80])
        self.a, self.b = a, b
        self.labels = tuple(labels) if labels is not None else None

    @property
    def same_prompt(self):
        """Whether both began with the same tokens."""
        return np.array_equal(*(np.asarray(one["tokens"][:one.prompt_length]) for one in (self.a, self.b)))

    def keys(self):
        """Names of arrays that both have, in the same shape."""
        return [name for name in self.a.keys() if name in self.b and self.a[name].shape == self.b[name].shape]

    def __getitem__(self, name):
        """a minus b."""
        one, other = self.a[name], self.b[name]
        if one.shape != other.shape:
            raise usage(name, f"the same shape, {list(one.shape)}", str(list(other.shape)))
        kind = np.result_type(one.dtype, np.float32) if one.dtype.kind == "f" else np.int64
        return Array.of(np.asarray(one, dtype=kind) - np.asarray(other, dtype=kind), one.dims)

    def __repr__(self):
        return f"<buoy.Comparison of {self.a.text!r} with {self.b.text!r}; both have: {', '.join(self.keys())}>"

    def _repr_html_(self):
        # Two panels, each with its map and its text.
        page = explored([self.a, self.b], self.labels or (), self.same_prompt, height=1320)
        if page is not None:
            return page
        return "".join(f"<p><b>{html.escape(label)}</b></p>{tokens_html(one)}"
                       for label, one in zip(self.labels or ("a", "b"), (self.a, self.b)))


def compare(a, b, metric="substring", confidence=0.95, labels=None):
    """Of two runs or samples of traces: both beside each other, a :class:`buoy.Comparison`, called by their models or by
    `labels`. Of two evaluations: mean(a) - mean(b) of a score over the same items, with a paired interval.

    >>> import buoy
    >>> same = buoy.Evaluation(['{"id": "1", "scores": {"substring": 1}}', '{"id": "2", "scores": {"substring": 0}}'])
    >>> buoy.compare(same, same).value
    0.0
    """
    if isinstance(a, SampleView) and isinstance(b, SampleView):
        return Comparison(a, b, labels)
    if not isinstance(a, Evaluation) or not isinstance(b, Evaluation):
        raise usage("compare", "two evaluations, or two runs or samples of traces", f"{type(a).__name__} and {type(b).__name__}")
    ids_a, ids_b = ([record["id"] for record in one.records] for one in (a, b))
    if ids_a != ids_b:
        raise usage("evaluations", f"the same items ({len(ids_a)})", f"others ({len(ids_b)})")
    return Estimate(native.difference_estimate(a.scores(metric), b.scores(metric), confidence, 1))
