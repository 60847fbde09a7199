"""One plain PyTorch forward pass for all five families, after the publishers' definitions.

The working dtype is a parameter:
  float64   everything, rotary tables included, in float64: the true reference
  float32   everything in float32
  16-bit    what a plain 16-bit Hugging Face style run does: every matrix product accumulates in float32 and
            is rounded once; norms, SiLU and softmax work in float32 and are rounded; other arithmetic is 16-bit
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class RopeScaling:
    """Llama 3.1's rule for the rotary frequencies."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_length: int


@dataclass(frozen=True)
class ModelShape:
    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    eps: float
    theta: float
    causal: bool
    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    full_precision_rope: bool = False
    rope_scaling: RopeScaling | None = None


@dataclass
class Trace:
    """Results of one forward pass. Queries and keys are taken after RoPE, just as the scores use them."""

    logits: torch.Tensor
    attention: list[torch.Tensor]
    queries: list[torch.Tensor]
    keys: list[torch.Tensor]


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the steps that a 16-bit run does in float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Matrix product with wide accumulation, rounded once."""
    return torch.matmul(a.to(wide(a.dtype)), b.to(wide(b.dtype))).to(a.dtype)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    y = torch.matmul(x.to(wide(x.dtype)), weight.to(wide(x.dtype)).T)
    if bias is not None:
        y = y + bias.to(y.dtype)
    return y.to(x.dtype)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    v = x.to(wide(x.dtype))
    v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + eps)
    return weight * v.to(x.dtype)


def silu(x: torch.Tensor) -> torch.Tensor:
    v = x.to(wide(x.dtype))
    return (v * torch.sigmoid(v)).to(x.dtype)


def rope_frequencies(head_dim: int, theta: float, scaling: RopeScaling | None, dtype: torch.dtype) -> torch.Tensor:
    exponents = torch.arange(0, head_dim, 2, dtype=dtype) / head_dim
    frequencies = 1.0 / (theta**exponents)
    if scaling is None:
        return frequencies
    wavelengths = 2 * math.pi / frequencies
    length, low, high = scaling.original_length, scaling.low_freq_factor, scaling.high_freq_factor
    blend = (length / wavelengths - low) / (high - low)
    blended = (1 - blend) * frequencies / scaling.factor + blend * frequencies
    scaled = torch.where(wavelengths > length / low, frequencies / scaling.factor, blended)
    return torch.where(wavelengths < length / high, frequencies, scaled)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, full_precision: bool) -> torch.Tensor:
    """Half-split rotation of x [heads, T, d] with wide tables [T, d/2]."""
    work = cos.dtype if full_precision else x.dtype
    cos, sin = cos.to(work), sin.to(work)
    first, second = x.to(work).chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


class PlainModel:
    def __init__(self, shape: ModelShape, stored: Weights, dtype: torch.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weights = {name: tensor.to(dtype) for name, tensor in stored.items()}

    @torch.no_grad()
    def forward(self, ids: list[int]) -> Trace:
        s, w = self.shape, self.weights
        length = len(ids)
        frequencies = rope_frequencies(s.head_dim, s.theta, s.rope_scaling, wide(self.dtype))
        angles = torch.arange(length, dtype=frequencies.dtype)[:, None] * frequencies[None, :]
        cos, sin = angles.cos(), angles.sin()
        trace = Trace(torch.empty(0), [], [], [])
        x = w["embed"][torch.tensor(ids)]
        for layer in range(s.layers):
            x = x + self._attention(layer, rms_norm(x, w[f"{layer}.attn_norm"], s.eps), cos, sin, trace)
            x = x + self._mlp(layer, rms_norm(x, w[f"{layer}.mlp_norm"], s.eps))
        x = rms_norm(x, w["final_norm"], s.eps)
        trace.logits = linear(x, w["embed"] if s.tied else w["head"])
        return trace

    def _heads(self, layer: int, name: str, h: torch.Tensor, count: int) -> torch.Tensor:
        """Projects h and splits it into [count, T, head_dim]."""
        y = linear(h, self.weights[f"{layer}.{name}"], self.weights.get(f"{layer}.{name}_bias"))
        return y.view(h.shape[0], count, self.shape.head_dim).transpose(0, 1)

    def _attention(
        self, layer: int, h: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, trace: Trace
    ) -> torch.Tensor:
        s, w = self.shape, self.weights
        length = h.shape[0]
        q = self._heads(layer, "q", h, s.heads)
        k = self._heads(layer, "k", h, s.kv_heads)
        v = self._heads(layer, "v", h, s.kv_heads)
        if s.qk_norm:
            q = rms_norm(q, w[f"{layer}.q_norm"], s.eps)
            k = rms_norm(k, w[f"{layer}.k_norm"], s.eps)
        q = rotate(q, cos, sin, s.full_precision_rope)
        k = rotate(k, cos, sin, s.full_precision_rope)
        group = s.heads // s.kv_heads
        scores = product(q, k.repeat_interleave(group, 0).transpose(1, 2)) * (1 / math.sqrt(s.head_dim))
        if s.causal:
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future, -math.inf)
        p = torch.softmax(scores.to(wide(self.dtype)), dim=-1).to(self.dtype)
        trace.attention.append(p)
        trace.queries.append(q)
        trace.keys.append(k)
        mixed = product(p, v.repeat_interleave(group, 0)).transpose(0, 1).reshape(length, s.heads * s.head_dim)
        return linear(mixed, w[f"{layer}.o"])

    def _mlp(self, layer: int, h: torch.Tensor) -> torch.Tensor:
        w = self.weights
        gate, up = linear(h, w[f"{layer}.gate"]), linear(h, w[f"{layer}.up"])
        return linear(silu(gate) * up, w[f"{layer}.down"])
