"""Bidirectional loops: LLaDA's (A2D mdlm, LLaDA-MoE, iLLaDA) and the autoregressive one."""

from __future__ import annotations

from typing import Iterable

import numpy as np

import philox

from .masks import causal, full
from .session import Session, cut, dllm_counts, quota


def mdlm(session: Session) -> None:
    """Options: max_new_tokens, steps, block_length, temperature, cfg_scale, schedule ("quota" or "dllm")."""
    options, start = session.options, session.prompt_length
    length, block = options["max_new_tokens"], options["block_length"]
    session.append_masks(start + length)
    row = len(session.x)
    fixed = [token != session.mask for token in session.x]
    steps = options["steps"] // (length // block)
    for block_start in range(start, start + length, block):
        end = block_start + block
        schedule = dllm_counts if options["schedule"] == "dllm" else quota
        for count in schedule(len(session.masks(block_start, end)), steps):
            logits = session.rows("denoise", 0, row, full(row))
            if options["cfg_scale"] > 0:  # the two passes are one step
                hidden = [session.mask if f else token for f, token in zip(fixed, session.x)]
                without = session.body.forward(hidden, full(row))
                session.margins.note(5 * without.router_margin)
                without = without.logits.double().numpy()
                with np.errstate(invalid="ignore"):
                    guided = without + (options["cfg_scale"] + 1) * (logits - without)
                logits = np.where(np.isinf(logits), logits, guided)
            proposals = {p: session.noisy(logits[p], p) for p in session.masks(0, end)}
            if options.get("remasking") == "random":
                confidence = random_order(session, proposals)
            else:
                confidence = {p: c for p, (_, c, _) in proposals.items()}
            for p in session.best(confidence, count):
                session.reveal(p, proposals[p][0])
    session.ids = session.x[start:]


def random_order(session: Session, positions: Iterable[int]) -> dict[int, float]:
    seed = session.options["seed"]
    return {p: float(philox.uniform(seed, philox.RANDOM_ORDER, session.step, p, 0)) for p in positions}


def autoregressive(session: Session) -> None:
    """Options: max_new_tokens, temperature, top_k, top_p, stop_token_ids. Every forward gives one token."""
    options = session.options
    while len(session.x) < session.prompt_length + options["max_new_tokens"]:
        length = len(session.x)
        logits = session.rows("denoise", session.kept if session.cached else 0, length, causal(length))
        session.keep()
        token = session.drawn(logits[-1], length)[0]
        session.x.append(-1)
        session.reveal(length, token)
        if token in options["stop_token_ids"]:
            break
    session.ids = cut(session, options["max_new_tokens"], options["stop_token_ids"])
