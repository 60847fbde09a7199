"""Answers to a file of questions, their scores, and the difference between two runs of them."""

import json
import os

from ._native import native
from .errors import usage

__all__ = ["Evaluation", "Estimate", "compare"]


class Estimate(dict):
    """A number with its interval: ``value``, ``lower``, ``upper``, ``samples``."""

    __getattr__ = dict.__getitem__

    def __repr__(self):
        return f"{self['value']:.4g} [{self['lower']:.4g}, {self['upper']:.4g}], {self['samples']} items"


class Evaluation:
    """What :meth:`buoy.Model.evaluate` returns: one record an item, as a line of `answers.jsonl` of `buoy eval`."""

    def __init__(self, lines):
        self.lines = list(lines)
        self.records = [json.loads(line) for line in self.lines]

    def __len__(self):
        return len(self.records)

    def __iter__(self):
        return iter(self.records)

    def __getitem__(self, number):
        return self.records[number]

    @property
    def metrics(self):
        """Names of the scores."""
        return sorted({name for record in self.records for name in record.get("scores", {})})

    def scores(self, metric):
        """One number an item; 0 for one that has no answer."""
        if metric not in self.metrics:
            raise usage("`metric`", f"one of {', '.join(self.metrics)}", repr(metric))
        return [float(record.get("scores", {}).get(metric, 0.0)) for record in self.records]

    def mean(self, metric="substring", confidence=0.95):
        """The mean of a score, with its interval."""
        return Estimate(native.mean_estimate(self.scores(metric), confidence, 1))

    def to_dict(self):
        """The records, one dict an item."""
        return self.records

    def to_pandas(self):
        """One row an item; scores are columns of their own."""
        import pandas
        return pandas.DataFrame([{**{key: value for key, value in record.items() if key != "scores"},
                                  **record.get("scores", {})} for record in self.records])

    def save(self, file):
        """As `answers.jsonl` has them."""
        with open(os.fspath(file), "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in self.lines)

    def __repr__(self):
        return f"<buoy.Evaluation of {len(self)} items: " + ", ".join(f"{m} {self.mean(m)['value']:.3g}" for m in self.metrics if m != "words") + ">"


def compare(a, b, metric="substring", confidence=0.95):
    """mean(a) - mean(b) of a score over the same items, with a paired interval.

    >>> import buoy
    >>> same = buoy.Evaluation(['{"id": "1", "scores": {"substring": 1}}', '{"id": "2", "scores": {"substring": 0}}'])
    >>> buoy.compare(same, same).value
    0.0
    """
    ids_a, ids_b = ([record["id"] for record in one.records] for one in (a, b))
    if ids_a != ids_b:
        raise usage("evaluations", f"the same items ({len(ids_a)})", f"others ({len(ids_b)})")
    return Estimate(native.difference_estimate(a.scores(metric), b.scores(metric), confidence, 1))
