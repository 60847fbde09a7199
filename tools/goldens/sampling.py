"""Pieces shared by the three decoding loops. All arithmetic on logits is in float64.

Every decision reports how far it was from going the other way; the minimum is kept as one number:
  argmax gaps (in logits, noise included), top-k gaps (in tempered logits), top-p gaps (in probability, and in
  tempered logits between the kept and the dropped tokens), |u - r|, and confidence cuts (relative for
  probabilities, absolute for the rest) count as they are;
  categorical draws (distance of u to the nearest running sum, both divided by the total) and Dream's real-valued
  reveal count (distance to the nearest whole number) are insensitive to rounding and count ten times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np

LogitsFunction = Callable[[list[int]], np.ndarray]


class Margins:
    def __init__(self) -> None:
        self.smallest = math.inf

    def note(self, gap: float) -> None:
        self.smallest = min(self.smallest, float(gap))

    def note_draw(self, gap: float) -> None:
        self.note(10 * gap)


@dataclass
class Decoded:
    """`row` is the whole final row; `revealed_at` covers the generated part only."""

    row: list[int]
    revealed_at: list[int]
    margins: Margins
    prompt_length: int

    @property
    def ids(self) -> list[int]:
        return self.row[self.prompt_length :]

    def same_outcome(self, other: "Decoded") -> bool:
        return self.row == other.row and self.revealed_at == other.revealed_at


def softmax(logits: np.ndarray) -> np.ndarray:
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def argmax(values: np.ndarray, margins: Margins) -> int:
    """Index of the largest value, the lower index on ties."""
    best = int(np.argmax(values))
    margins.note(values[best] - np.delete(values, best).max())
    return best


def top_positions(
    confidence: np.ndarray, exact: np.ndarray, count: int, relative: bool, margins: Margins
) -> list[int]:
    """The `count` positions of largest confidence, lower positions first on ties; -inf is never chosen.

    `exact` marks confidences that are the same number in any implementation (0 after -inf, 1 with one survivor):
    only between those is a tie at the cut allowed.
    """
    order = np.argsort(-confidence, kind="stable")
    order = order[np.isfinite(confidence[order])]
    chosen, rest = order[:count], order[count:]
    if len(chosen) and len(rest):
        last, first = confidence[chosen[-1]], confidence[rest[0]]
        if not (last == first and exact[chosen[-1]] and exact[rest[0]]):
            scale = max(abs(last), abs(first)) if relative else 1.0
            margins.note((last - first) / scale if scale > 0 else 0.0)
    return [int(p) for p in chosen]


def categorical(p: np.ndarray, u: float, margins: Margins) -> int:
    """The first token whose running sum exceeds u * P; the last possible token if rounding leaves none."""
    running = np.cumsum(p)
    total = running[-1]
    borders = running[(running > 0) & (running < total)]
    if len(borders):
        margins.note_draw(np.abs(borders - u * total).min() / total)
    token = int(np.searchsorted(running, u * total, side="right"))
    return token if token < len(p) else int(np.flatnonzero(p)[-1])


def keep_top_k(logits: np.ndarray, top_k: int, margins: Margins) -> np.ndarray:
    """Drops everything below the k-th largest value; ties with it survive."""
    threshold = np.sort(logits)[-min(top_k, len(logits))]
    below = logits[logits < threshold]
    if np.isfinite(threshold) and len(below):
        margins.note(threshold - below.max())
    return np.where(logits < threshold, -np.inf, logits)


def drop_by_order(logits: np.ndarray, order: np.ndarray, dropped: np.ndarray, margins: Margins) -> np.ndarray:
    """Drops the tokens order[i] with dropped[i]; notes how clear the order was between kept and dropped tokens."""
    result = logits.copy()
    result[order[dropped]] = -np.inf
    best_dropped = logits[order[dropped]].max(initial=-np.inf)
    if np.isfinite(best_dropped):
        margins.note(logits[order[~dropped]].min() - best_dropped)
    return result
