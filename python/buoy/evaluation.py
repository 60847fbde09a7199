"""Answers to a file of questions, and their scores."""

import json
import os

from ._native import native
from ._request import request_text
from .errors import usage

__all__ = ["Evaluation", "Estimate", "world_questions"]


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


def world_questions(file, *, version=2, **options):
    """Writes questions about the made-up world that the bundled models know, as `buoy world` does, and returns the path.
    `version`: 2, the world of the natural pair, or 1, that of the planted pair. Options: people ("asked", "read-only",
    "unknown"), count, passages, seed, task, label_style, wording; of version 1 gold_position, noise_kind, two_hop.

    >>> import buoy, os, tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     file = buoy.world_questions(os.path.join(scratch, "questions.jsonl"), passages=3, count=5)
    ...     len(open(file).readlines())
    5
    """
    native.world_questions(request_text({"version": version, **options}), os.fspath(file))
    return os.fspath(file)
