"""Rotary frequencies of the page's section 1: plain, partial, proportional, YaRN."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Yarn:
    """`query_beta` is Nemotron's llama_4_scaling_beta: queries grow with the position."""

    factor: float | None
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float | None = None
    mscale_all_dim: float | None = None
    attention_factor: float | None = None
    query_beta: float | None = None
    max_positions: int | None = None

    @property
    def scale(self) -> float:
        return self.factor if self.factor is not None else self.max_positions / self.original_length


def plain_frequencies(width: int, theta: float, dtype: torch.dtype) -> torch.Tensor:
    return 1.0 / (theta ** (torch.arange(0, width, 2, dtype=dtype) / width))


def proportional_frequencies(head_dim: int, share: float, theta: float, dtype: torch.dtype) -> torch.Tensor:
    """Gemma 4: exponent over the whole width; the pairs behind the rotated share stand still."""
    frequencies = plain_frequencies(head_dim, theta, dtype)
    rotated = math.floor(share * head_dim / 2)
    return torch.where(torch.arange(head_dim // 2) < rotated, frequencies, torch.zeros_like(frequencies))


def yarn_bounds(head_dim: int, theta: float, yarn: Yarn) -> tuple[float, float]:
    def dim(rotations: float) -> float:
        return head_dim * math.log(yarn.original_length / (2 * math.pi * rotations)) / (2 * math.log(theta))

    low = max(math.floor(dim(yarn.beta_fast)), 0)
    high = min(math.ceil(dim(yarn.beta_slow)), head_dim - 1)
    return low, high + 0.001 if high == low else high


def yarn_frequencies(head_dim: int, theta: float, yarn: Yarn, dtype: torch.dtype) -> torch.Tensor:
    low, high = yarn_bounds(head_dim, theta, yarn)
    plain = plain_frequencies(head_dim, theta, dtype)
    ramp = ((torch.arange(head_dim // 2, dtype=dtype) - low) / (high - low)).clamp(0, 1)
    return plain * (1 - ramp) + plain / yarn.scale * ramp


def yarn_attention_factor(yarn: Yarn) -> float:
    """Multiplies cos and sin."""

    def m(scale: float, a: float) -> float:
        return 1.0 if scale <= 1 else 0.1 * a * math.log(scale) + 1

    if yarn.attention_factor is not None:
        return yarn.attention_factor
    if yarn.mscale is not None and yarn.mscale_all_dim is not None:
        return m(yarn.scale, yarn.mscale) / m(yarn.scale, yarn.mscale_all_dim)
    return m(yarn.scale, 1.0)


def query_factor(positions: torch.Tensor, beta: float, original_length: int) -> torch.Tensor:
    """1 + beta ln(1 + floor(p / N)): queries only, after the rotation."""
    return 1 + beta * torch.log(1 + torch.floor(positions / original_length))


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Half-split rotation of the first 2 * cos.shape[-1] numbers of every head of x [heads, T, d]; the rest passes."""
    half = cos.shape[-1]
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat([first * cos - second * sin, second * cos + first * sin, rest], dim=-1)
