"""Loops that reveal by entropy on a shifted, bidirectional model: Open-dCoder (6.2) and RND1 (9)."""

from __future__ import annotations

import math

import numpy as np

import philox
from decode_dream import confidence_of, reveal_count, reveal_ratio, sample, timesteps

from .masks import full
from .session import Session


def shifted_rows(session: Session) -> np.ndarray:
    length = len(session.x)
    logits = session.rows("denoise", 0, length, full(length))
    return logits[np.maximum(np.arange(length) - 1, 0)]


def open_dcoder(session: Session) -> None:
    """Dream's sampler with counts per row and an early exit, and the rule p2.

    Options: max_new_tokens, steps, algorithm (entropy, maskgit_plus, topk_margin, origin, p2), temperature, top_p,
    top_k, alg_temp, eps.
    """
    options, algorithm = session.options, session.options["algorithm"]
    steps = options["steps"]
    session.append_masks(session.prompt_length + options["max_new_tokens"])
    free = session.masks(0, len(session.x))
    t = timesteps(steps, options["eps"])
    for step in range(steps):
        masked = session.masks(0, len(session.x))
        if not masked:
            break
        logits = shifted_rows(session)
        if algorithm == "p2":
            p2_step(session, logits, free, masked, step)
            continue
        ratio = reveal_ratio(t, step)
        if algorithm == "origin":
            for p in masked:
                u = float(philox.uniform(options["seed"], philox.TRANSFER, step, p, 0))
                if step < steps - 1:
                    session.margins.note(abs(u - float(ratio)))
                if u < float(ratio):
                    session.reveal(p, proposed(session, logits[p], p)[0])
            continue
        if step < steps - 1:
            exact = float(np.float32(len(masked)) * ratio)
            session.margins.note_draw(abs(exact - round(exact)))
        proposals = {p: proposed(session, logits[p], p) for p in masked}
        confidence = {p: confidence_of(algorithm, p_, token) for p, (token, p_) in proposals.items()}
        if options["alg_temp"]:
            confidence = {
                p: c / options["alg_temp"] + float(philox.gumbel(options["seed"], philox.ORDER_NOISE, step, p, 0))
                for p, c in confidence.items()
            }
        for p in session.best(confidence, reveal_count(len(masked), ratio)):
            session.reveal(p, proposals[p][0])
    session.ids = session.x[session.prompt_length :]


def proposed(session: Session, logits: np.ndarray, position: int) -> tuple[int, np.ndarray]:
    token, p = sample(logits, session.step, position, session.options, session.margins)
    if session.forbid == "choice" and token == session.mask:
        hidden = logits.copy()
        hidden[session.mask] = -np.inf
        token, _ = sample(hidden, session.step, position, session.options, session.margins)
    return token, p


def p2_step(session: Session, logits: np.ndarray, free: list[int], masked: list[int], step: int) -> None:
    """Every free position is judged anew: the least probable ones become MASK, also revealed ones."""
    steps = session.options["steps"]
    hidden_count = math.floor(len(free) * (1 - (step + 1) / steps))
    if hidden_count != len(free) * (steps - step - 1) // steps:
        raise RuntimeError("rounding decides the number of masks: choose other numbers")
    proposals = {p: proposed(session, logits[p], p) for p in free}
    probability = {p: float(p_[token]) for p, (token, p_) in proposals.items()}
    shown = set(session.best(probability, len(free) - hidden_count))
    for p in free:
        if p not in shown:
            session.hide(p)
        elif p in masked:
            session.reveal(p, proposals[p][0])


def rnd1(session: Session) -> None:
    """Options: max_new_tokens, steps, temperature, top_k, top_p, greedy, entropy_bound (or null), bound_order.

    Each forward's predictions are revealed after it; the positions of highest entropy stay masked.
    """
    options, steps = session.options, session.options["steps"]
    session.append_masks(session.prompt_length + options["max_new_tokens"])
    at_start = len(session.masks(0, len(session.x)))
    for step in range(steps - 1, -1, -1):
        masked = session.masks(0, len(session.x))
        if not masked:
            break
        logits = shifted_rows(session)
        tokens, entropy, sureness = {}, {}, {}
        for p in masked:
            distribution = session.filtered(logits[p] / options["temperature"])
            if options["greedy"]:
                tokens[p] = session.argmax(logits[p])
            else:
                tokens[p] = session.drawn(logits[p], p)[0]
            positive = distribution[distribution > 0]
            entropy[p] = float(-(positive * np.log(positive)).sum())
            sureness[p] = float(distribution[tokens[p]])
        if step == 0:
            chosen = masked
        elif options["entropy_bound"] is not None:
            chosen = within_bound(session, entropy, sureness)
        else:
            keep = at_start * step // steps
            chosen = session.best({p: -e for p, e in entropy.items()}, len(masked) - keep)
        for p in sorted(chosen):
            session.reveal(p, tokens[p])
    session.ids = session.x[session.prompt_length :]


def within_bound(session: Session, entropy: dict[int, float], sureness: dict[int, float]) -> list[int]:
    """Sure positions first, while (cumulative entropy - running maximum) <= the bound."""
    by_entropy = session.options["bound_order"] == "entropy"
    order = sorted(entropy, key=lambda p: (entropy[p] if by_entropy else -sureness[p], p))
    chosen, total, largest = [], 0.0, 0.0
    for p in order:
        total += entropy[p]
        largest = max(largest, entropy[p])
        session.margins.note(abs(total - largest - session.options["entropy_bound"]))
        if total - largest <= session.options["entropy_bound"]:
            chosen.append(p)
    return chosen
