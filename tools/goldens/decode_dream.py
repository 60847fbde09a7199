"""Dream's decoding with the draws of docs/randomness.md (one row, so batch averages are exact)."""

from __future__ import annotations

from typing import Any

import numpy as np

import philox
from sampling import Decoded, LogitsFunction, Margins, argmax, categorical, drop_by_order, keep_top_k, softmax
from sampling import top_positions


def timesteps(steps: int, eps: float) -> np.ndarray:
    """linspace(1, eps, steps + 1) in float32: the first half counts up from 1, the second down from eps."""
    start, end = np.float32(1), np.float32(eps)
    width = (end - start) / np.float32(steps)
    points = steps + 1
    values = [
        start + width * np.float32(i) if i < points // 2 else end - width * np.float32(steps - i)
        for i in range(points)
    ]
    return np.array(values, np.float32)


def reveal_ratio(t: np.ndarray, step: int) -> np.float32:
    """The share of the masks to reveal at this step."""
    return np.float32(1) - t[step + 1] / t[step] if step < len(t) - 2 else np.float32(1)


def reveal_count(masks: int, ratio: np.float32) -> int:
    return int(np.float32(masks) * ratio)


def keep_top_p(logits: np.ndarray, top_p: float, margins: Margins) -> np.ndarray:
    """Drops tokens before which the cumulative probability, largest first, already exceeds top_p."""
    order = np.argsort(-logits, kind="stable")
    p = softmax(logits[order])
    before = np.cumsum(p) - p
    before[0] = 0.0
    margins.note(np.abs(before[1:] - top_p).min())
    dropped = before > top_p
    dropped[0] = False
    return drop_by_order(logits, order, dropped, margins)


def sample(
    logits: np.ndarray, step: int, position: int, options: dict[str, Any], margins: Margins
) -> tuple[int, np.ndarray]:
    """The proposed token of one position and the filtered, tempered distribution it comes from."""
    temperature, top_p, top_k = options["temperature"], options.get("top_p"), options.get("top_k")
    if temperature > 0:
        logits = logits / temperature
    if top_p is not None and top_p < 1:
        logits = keep_top_p(logits, top_p, margins)
    if top_k is not None:
        logits = keep_top_k(logits, top_k, margins)
    p = softmax(logits)
    if temperature > 0:
        u = float(philox.uniform(options["seed"], philox.TOKEN_DRAW, step, position, 0))
        return categorical(p, u, margins), p
    return argmax(logits, margins), p


def confidence_of(algorithm: str, p: np.ndarray, token: int) -> float:
    if algorithm == "maskgit_plus":
        return p[token]
    if algorithm == "topk_margin":
        first, second = np.sort(p)[::-1][:2]
        return first - second
    return float((p * np.log(p + 1e-10)).sum())


def decode(model: LogitsFunction, prompt: list[int], options: dict[str, Any]) -> Decoded:
    mask_id, seed, algorithm = options["mask_token_id"], options["seed"], options["algorithm"]
    alg_temp = options.get("alg_temp") or 0
    row = np.array(prompt + [mask_id] * options["max_new_tokens"])
    revealed_at = np.full(len(row), -1)
    t = timesteps(options["steps"], options["eps"])
    margins = Margins()

    def reveal(p: int, token: int, step: int) -> None:
        row[p] = token
        if token != mask_id:
            revealed_at[p] = step

    for step in range(options["steps"]):
        masked = np.flatnonzero(row == mask_id)
        logits = model(row.tolist()).astype(np.float64)
        shifted = logits[np.maximum(np.arange(len(row)) - 1, 0)]
        ratio = reveal_ratio(t, step)
        if algorithm == "origin":
            u = philox.uniform(seed, philox.TRANSFER, step, masked, 0)
            if step < options["steps"] - 1 and len(masked):
                margins.note(np.abs(u - float(ratio)).min())
            for p in masked[u < float(ratio)]:
                reveal(p, sample(shifted[p], step, p, options, margins)[0], step)
            continue
        count = reveal_count(len(masked), ratio)
        if step < options["steps"] - 1:
            exact_count = float(np.float32(len(masked)) * ratio)
            margins.note_draw(abs(exact_count - round(exact_count)) if len(masked) else np.inf)
        confidence = np.full(len(row), -np.inf)
        exact = np.zeros(len(row), bool)
        proposal = row.copy()
        for p in masked:
            proposal[p], distribution = sample(shifted[p], step, p, options, margins)
            confidence[p] = confidence_of(algorithm, distribution, proposal[p])
            exact[p] = np.count_nonzero(distribution) == 1
        if alg_temp > 0:
            noise = philox.gumbel(seed, philox.ORDER_NOISE, step, np.arange(len(row)), 0)
            confidence, exact = confidence / alg_temp + noise, np.zeros_like(exact)
        relative = algorithm == "maskgit_plus" and alg_temp == 0
        for p in top_positions(confidence, exact, count, relative, margins):
            reveal(p, proposal[p], step)
    return Decoded(row.tolist(), revealed_at[len(prompt) :].tolist(), margins, len(prompt))
