"""One decoding run: the row, the forwards with their kinds, the reveals, and how clear every decision was.

A session is either `cached` (keys and values of finished text are kept; only new rows are computed) or recomputed
(every forward starts at position 0). Both must give the same ids and reveals.

`forbid` says what becomes of MASK as a prediction:
  "logits"  its logit is minus infinity before everything else
  "choice"  it is never chosen, but it keeps its share of the softmax
  "off"     it may be predicted
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

import philox
from sampling import Margins, argmax, categorical, drop_by_order, keep_top_k, softmax

from .body import Body

MAX_FORWARDS = 400
Options = dict[str, Any]


class Session:
    def __init__(
        self, body: Body, prompt: list[int], options: Options, cached: bool = False, forbid: str = "logits"
    ) -> None:
        self.body, self.options, self.cached, self.forbid = body, options, cached, forbid
        self.prompt_length = len(prompt)
        self.mask: int | None = options.get("mask_token_id")
        self.x = list(prompt)
        self.forwards: list[list[Any]] = []  # [kind, first row, end]
        self.reveals: list[list[int]] = []  # [step, position, token], by denoising forwards
        self.seeds: list[list[int]] = []  # the same, by prefill and finishing forwards
        self.hidden: list[list[int]] = []  # [step, position] of tokens that became MASK again
        self.step = 0  # denoising forwards completed before the current forward
        self.denoised = 0
        self.margins = Margins()
        self.kept = 0  # positions whose keys and values are in `past`
        self.past: list | None = None
        self.last = None
        self.ids: list[int] = []

    def masks(self, start: int, end: int) -> list[int]:
        return [p for p in range(start, end) if self.x[p] == self.mask]

    def append_masks(self, end: int) -> None:
        self.x += [self.mask] * (end - len(self.x))

    def rows(self, kind: str, start: int, end: int, visible: torch.Tensor, ids: list[int] | None = None) -> np.ndarray:
        """Logits of rows start..end-1; `visible` is the whole matrix of positions 0..end-1."""
        if len(self.forwards) >= MAX_FORWARDS:
            raise Endless
        ids = self.x[:end] if ids is None else ids
        if self.cached:
            if self.kept != start:
                raise RuntimeError(f"{self.kept} positions kept, but rows from {start} asked for")
            trace = self.body.forward(ids[start:], visible[start:], start, self.past)
        else:
            trace = self.body.forward(ids, visible)
        self.last = (trace, start, end, list(ids))
        self.forwards.append([kind, start, end])
        self.margins.note(5 * trace.router_margin)
        self.step = self.denoised
        if kind == "denoise":
            self.denoised += 1
        logits = trace.logits[-(end - start) :].double().numpy().copy()
        if self.forbid == "logits" and self.mask is not None:
            logits[:, self.mask] = -np.inf
        return logits

    def keep(self) -> None:
        """Keeps the keys and values of the last forward. Its tokens must be final."""
        if not self.cached:
            return
        trace, start, end, ids = self.last
        if start != self.kept or ids != self.x[:end]:
            raise RuntimeError("keys and values of tokens that are not final")
        if self.past is None:
            self.past = list(zip(trace.keys, trace.values))
        else:
            self.past = [
                (torch.cat([k, more_k], 1), torch.cat([v, more_v], 1))
                for (k, v), more_k, more_v in zip(self.past, trace.keys, trace.values)
            ]
        self.kept = end

    def store(self, kind: str, start: int, end: int, visible: torch.Tensor) -> None:
        """A forward that only fills the cache: nothing happens in a recomputed session."""
        if self.cached and start < end:
            self.rows(kind, start, end, visible)
            self.keep()

    def reveal(self, position: int, token: int) -> None:
        self.x[position] = token
        if token != self.mask:
            kind = self.forwards[-1][0]
            (self.reveals if kind == "denoise" else self.seeds).append([self.step, position, token])

    def hide(self, position: int) -> None:
        if self.x[position] != self.mask:
            self.hidden.append([self.step, position])
        self.x[position] = self.mask

    def append_seed(self, token: int) -> None:
        self.x.append(self.mask if self.mask is not None else 0)
        self.reveal(len(self.x) - 1, token)

    # Proposals: a token, its confidence, and whether that confidence is the same number in any implementation.

    def argmax(self, scores: np.ndarray) -> int:
        if self.forbid == "choice" and self.mask is not None:
            scores = scores.copy()
            scores[self.mask] = -np.inf
        return argmax(scores, self.margins)

    def greedy(self, logits: np.ndarray) -> tuple[int, float, bool]:
        token = self.argmax(logits)
        return token, float(softmax(logits)[token]), False

    def noisy(self, logits: np.ndarray, position: int) -> tuple[int, float, bool]:
        """Gumbel noise on the choice, the clean softmax as confidence."""
        temperature = self.options["temperature"]
        if temperature == 0:
            return self.greedy(logits)
        noise = philox.gumbel(
            self.options["seed"], philox.TOKEN_NOISE, self.step, position, np.arange(len(logits))
        )
        token = self.argmax(logits + temperature * noise)
        return token, float(softmax(logits)[token]), False

    def drawn(self, logits: np.ndarray, position: int) -> tuple[int, float, bool]:
        """Temperature, top_k, top_p, draw; confidence is the filtered probability. Temperature 0: greedy."""
        temperature = self.options["temperature"]
        if temperature == 0:
            return self.greedy(logits)
        p = self.filtered(logits / temperature)
        if self.forbid == "choice" and self.mask is not None:
            chances = p.copy()
            chances[self.mask] = 0
        else:
            chances = p
        u = float(philox.uniform(self.options["seed"], philox.TOKEN_DRAW, self.step, position, 0))
        token = categorical(chances, u, self.margins)
        return token, float(p[token]), np.count_nonzero(p) == 1

    def filtered(self, logits: np.ndarray) -> np.ndarray:
        top_k, top_p = self.options.get("top_k"), self.options.get("top_p")
        if top_k:
            logits = keep_top_k(logits, top_k, self.margins)
        if top_p is not None and top_p < 1:
            logits = nucleus(logits, top_p, self.margins, self.options.get("nucleus_floor", 1))
        return softmax(logits)

    def above(self, confidence: dict[int, float], threshold: float, inclusive: bool = False) -> list[int]:
        """Positions above the threshold, rising."""
        for value in confidence.values():
            if value != 1 or threshold != 1:
                self.margins.note(abs(value - threshold))
        return [p for p, c in sorted(confidence.items()) if c > threshold or (inclusive and c == threshold)]

    def best(self, confidence: dict[int, float], count: int, exact: dict[int, bool] | None = None) -> list[int]:
        """The `count` positions of largest confidence, lower positions first on ties."""
        order = sorted(confidence, key=lambda p: (-confidence[p], p))
        chosen, rest = order[:count], order[count:]
        if chosen and rest:
            last, first = confidence[chosen[-1]], confidence[rest[0]]
            if not (last == first and exact and exact[chosen[-1]] and exact[rest[0]]):
                self.margins.note((last - first) / max(abs(last), 1e-300))
        return chosen

    def same_outcome(self, other: "Session") -> bool:
        return (self.x, self.reveals, self.seeds, self.ids) == (other.x, other.reveals, other.seeds, other.ids)


class Endless(Exception):
    """The loop does not end."""


def nucleus(logits: np.ndarray, top_p: float, margins: Margins, floor: int = 1) -> np.ndarray:
    """Drops the tokens before which the cumulative probability, largest first, already exceeds top_p.

    The `floor` most probable ones stay; RND1's published sampler keeps two.
    """
    order = np.argsort(-logits, kind="stable")
    p = softmax(logits[order])
    before = np.cumsum(p) - p
    before[0] = 0.0
    margins.note(np.abs(before[1:] - top_p).min())
    dropped = before > top_p
    dropped[:floor] = False
    return drop_by_order(logits, order, dropped, margins)


def quota(count: int, steps: int) -> list[int]:
    return [count // steps + (i < count % steps) for i in range(steps)]


def dllm_counts(masks: int, steps: int) -> list[int]:
    """The dllm library's schedule: float32 times and ratio, rounded half to even; zeros are skipped."""
    one = np.float32(1)
    counts = []
    for step in range(steps):
        later, now = np.float32((steps - 1 - step) / steps), np.float32((steps - step) / steps)
        ratio = one - (one - (one - later)) / (one - (one - now))
        count = min(int(np.round(np.float64(masks) * np.float64(ratio))), masks)
        if count:
            counts.append(count)
        masks -= count
        if masks == 0:
            break
    return counts


def cut(session: Session, limit: int, stops: list[int]) -> list[int]:
    """Generated ids, at most `limit`, up to and including the first stop id; a MASK ends them as well."""
    ids = session.x[session.prompt_length :][:limit]
    for n, token in enumerate(ids):
        if token == session.mask:
            return ids[:n]
        if token in stops:
            return ids[: n + 1]
    return ids
