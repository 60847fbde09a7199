"""Autoregressive decoding with the draws of docs/randomness.md."""

from __future__ import annotations

from typing import Any

import numpy as np

import philox
from sampling import Decoded, LogitsFunction, Margins, argmax, categorical, drop_by_order, keep_top_k, softmax


def penalize(logits: np.ndarray, row: list[int], penalty: float) -> np.ndarray:
    """Repetition penalty for every id in the row, prompt included."""
    logits = logits.copy()
    seen = sorted(set(row))
    logits[seen] = np.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
    return logits


def keep_top_p(logits: np.ndarray, top_p: float, margins: Margins) -> np.ndarray:
    """Drops the tail, smallest first, while its cumulative probability is at most 1 - top_p; one token stays."""
    order = np.argsort(logits, kind="stable")
    cumulative = np.cumsum(softmax(logits[order]))
    margins.note(np.abs(cumulative[:-1] - (1 - top_p)).min())
    dropped = cumulative <= 1 - top_p
    dropped[-1] = False
    return drop_by_order(logits, order, dropped, margins)


def decode(model: LogitsFunction, prompt: list[int], options: dict[str, Any]) -> Decoded:
    row = list(prompt)
    margins = Margins()
    temperature, top_k, top_p = options["temperature"], options.get("top_k"), options.get("top_p")
    for step in range(options["max_new_tokens"]):
        logits = model(row)[-1].astype(np.float64)
        logits = penalize(logits, row, options.get("repetition_penalty") or 1.0)
        if temperature == 0:
            token = argmax(logits, margins)
        else:
            logits = logits / temperature
            if top_k is not None:
                logits = keep_top_k(logits, top_k, margins)
            if top_p is not None and top_p < 1:
                logits = keep_top_p(logits, top_p, margins)
            u = float(philox.uniform(options["seed"], philox.TOKEN_DRAW, step, len(row), 0))
            token = categorical(softmax(logits), u, margins)
        row.append(token)
        if token in options["eos_token_ids"]:
            break
    return Decoded(row, list(range(len(row) - len(prompt))), margins, len(prompt))
