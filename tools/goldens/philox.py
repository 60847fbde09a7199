"""Counter-based random draws (docs/randomness.md): a pure function of (seed, stream, step, position, index)."""

from __future__ import annotations

import numpy as np

TOKEN_NOISE = 1
RANDOM_ORDER = 2
TRANSFER = 3
TOKEN_DRAW = 4
ORDER_NOISE = 5

_LOW32 = np.uint64(0xFFFFFFFF)
_SHIFT32 = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = 0x9E3779B9
_WEYL_1 = 0xBB67AE85


def philox_words(seed: int, stream: int, step: int, position: np.ndarray, index: np.ndarray) -> list[np.ndarray]:
    """The four output words of Philox4x32-10 for every (position, index) pair, as uint64 arrays below 2^32."""
    position, index = np.broadcast_arrays(np.asarray(position, np.uint64), np.asarray(index, np.uint64))
    c0, c1 = index.copy(), position.copy()
    c2, c3 = np.full_like(c0, step), np.full_like(c0, stream)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        product_0, product_1 = _MULTIPLIER_0 * c0, _MULTIPLIER_1 * c2
        high_0, low_0 = product_0 >> _SHIFT32, product_0 & _LOW32
        high_1, low_1 = product_1 >> _SHIFT32, product_1 & _LOW32
        c0, c1, c2, c3 = high_1 ^ c1 ^ np.uint64(k0), low_1, high_0 ^ c3 ^ np.uint64(k1), low_0
        k0, k1 = (k0 + _WEYL_0) & 0xFFFFFFFF, (k1 + _WEYL_1) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def uniform(seed: int, stream: int, step: int, position: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Doubles in [0, 1) made of the top 27 bits of word 0 and the top 26 bits of word 1."""
    x0, x1, _, _ = philox_words(seed, stream, step, position, index)
    high = (x0 >> np.uint64(5)).astype(np.float64)
    low = (x1 >> np.uint64(6)).astype(np.float64)
    return (high * 2.0**26 + low) * 2.0**-53


def gumbel(seed: int, stream: int, step: int, position: np.ndarray, index: np.ndarray) -> np.ndarray:
    """-ln(-ln u); u = 0 gives minus infinity."""
    with np.errstate(divide="ignore"):
        return -np.log(-np.log(uniform(seed, stream, step, position, index)))
