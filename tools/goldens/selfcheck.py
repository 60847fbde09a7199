"""Checks of the building blocks against known values and those in docs/randomness.md."""

from __future__ import annotations

import numpy as np
import torch

from decode_dream import reveal_count, reveal_ratio, timesteps
from decode_llada import step_quotas
from philox import philox_words
from plain import RopeScaling, rope_frequencies

_LLAMA3_SCALED = {
    29: (2.6160992529e-3, 2.1665707635e-3),
    30: (2.1311195369e-3, 1.3718935678e-3),
    31: (1.7360467022e-3, 8.5675141292e-4),
    32: (1.4142135624e-3, 5.2484616099e-4),
    33: (1.1520427403e-3, 3.1269375038e-4),
    34: (9.384738704e-4, 1.785078128e-4),
    35: (7.6449698832e-4, 9.556212354e-5),
    63: (2.4551407911e-6, 3.068925989e-7),
}


def require(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"self check failed: {what}")


def dream_counts(masks: int, steps: int) -> list[int]:
    t = timesteps(steps, 1e-3)
    counts = []
    for step in range(steps):
        counts.append(reveal_count(masks, reveal_ratio(t, step)))
        masks -= counts[-1]
    return counts


def run_self_checks() -> None:
    words = [int(word) for word in philox_words(0, 0, 0, np.array(0), np.array(0))]
    require(words == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], "Philox known answer")

    plain = rope_frequencies(128, 5e5, None, torch.float64)
    scaled = rope_frequencies(128, 5e5, RopeScaling(8.0, 1.0, 4.0, 8192), torch.float64)
    for j, (before, after) in _LLAMA3_SCALED.items():
        require(abs(plain[j].item() / before - 1) < 1e-9, f"rope frequency {j}")
        require(abs(scaled[j].item() / after - 1) < 1e-9, f"scaled rope frequency {j}")
    require(torch.equal(scaled[:29], plain[:29]), "unscaled rope frequencies")
    require(torch.equal(scaled[35:], plain[35:] / 8), "fully scaled rope frequencies")

    require(dream_counts(32, 8) == [3, 4, 4, 4, 4, 4, 4, 5], "Dream schedule 32/8")
    require(dream_counts(256, 128) == [1] + [2] * 126 + [3], "Dream schedule 256/128")
    for n in (4, 12, 32, 64):
        require(dream_counts(n, n) == [0] + [1] * (n - 2) + [2], f"Dream schedule {n}/{n}")
    require(step_quotas(8, 3) == [3, 3, 2], "LLaDA quota")
