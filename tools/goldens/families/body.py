"""One plain forward pass for all families of the page: any visibility, dense or with experts.

Dtypes as in plain.py: float64 is the true reference, float32 is plain float32, a 16-bit type rounds where a plain
Hugging Face style run rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from plain import Weights, linear, product, rms_norm, silu, wide

from .rotary import Yarn, plain_frequencies, query_factor, rotate, yarn_attention_factor, yarn_frequencies
from .routers import Routing, sigmoid_router, softmax_router


@dataclass(frozen=True)
class Experts:
    """kind: "softmax" (section 1.4) or "sigmoid" (1.5). `dense` names the layers with a plain MLP.

    float32_weights: the router's weights stay float32 in a 16-bit run (Mixtral, LLaDA2).
    """

    kind: str
    count: int
    top: int
    width: int
    renormalise: bool = True
    dense: tuple[int, ...] = ()
    shared_width: int = 0
    groups: int = 1
    kept_groups: int = 1
    scaling: float = 1.0
    bias: bool = False
    float32_weights: bool = False


@dataclass(frozen=True)
class Shape:
    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    eps: float
    theta: float
    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    rotary_width: int | None = None
    yarn: Yarn | None = None
    full_precision_rope: bool = False
    experts: Experts | None = None


def tensor_sizes(s: Shape) -> dict[str, tuple[int, ...]]:
    """Every tensor of the body, by the names used here."""
    sizes: dict[str, tuple[int, ...]] = {"embed": (s.vocab, s.hidden)}

    def gated(prefix: str, width: int) -> None:
        sizes[prefix + "gate"] = sizes[prefix + "up"] = (width, s.hidden)
        sizes[prefix + "down"] = (s.hidden, width)

    for layer in range(s.layers):
        sizes[f"{layer}.attn_norm"] = (s.hidden,)
        for part, heads in (("q", s.heads), ("k", s.kv_heads), ("v", s.kv_heads)):
            sizes[f"{layer}.{part}"] = (heads * s.head_dim, s.hidden)
            if s.qkv_bias:
                sizes[f"{layer}.{part}_bias"] = (heads * s.head_dim,)
        if s.qk_norm:
            sizes[f"{layer}.q_norm"] = sizes[f"{layer}.k_norm"] = (s.head_dim,)
        sizes[f"{layer}.o"] = (s.hidden, s.heads * s.head_dim)
        sizes[f"{layer}.mlp_norm"] = (s.hidden,)
        e = s.experts
        if e is None or layer in e.dense:
            gated(f"{layer}.", s.mlp)
            continue
        sizes[f"{layer}.router"] = (e.count, s.hidden)
        if e.bias:
            sizes[f"{layer}.router_bias"] = (e.count,)
        for expert in range(e.count):
            gated(f"{layer}.expert_{expert}.", e.width)
        if e.shared_width:
            gated(f"{layer}.shared.", e.shared_width)
    sizes["final_norm"] = (s.hidden,)
    if not s.tied:
        sizes["head"] = (s.vocab, s.hidden)
    return sizes


@dataclass
class Trace:
    """`keys` and `values` are [kv_heads, rows, d] after norm and rotation; `routing` is None for dense layers."""

    logits: torch.Tensor
    attention: list[torch.Tensor]
    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    routing: list[Routing | None]

    @property
    def router_margin(self) -> float:
        return min((r.margin for r in self.routing if r is not None), default=math.inf)


class Body:
    def __init__(self, shape: Shape, stored: Weights, dtype: torch.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        narrow = wide(dtype) != dtype  # a float32 router in a 16-bit file stays as it is
        self.weights = {
            name: tensor if narrow and tensor.dtype == torch.float32 else tensor.to(dtype)
            for name, tensor in stored.items()
        }

    @torch.no_grad()
    def forward(
        self, ids: list[int], visible: torch.Tensor, first: int = 0, past: list | None = None,
        positions: list[int] | None = None,
    ) -> Trace:
        """Rows first .. first + len(ids) - 1 of a sequence.

        visible[i, j]: row i of `ids` sees key j, where j counts from position 0 of the sequence; `past` holds (keys,
        values) of the positions before `first`, per layer.
        """
        s, w = self.shape, self.weights
        if tuple(visible.shape) != (len(ids), first + len(ids)):
            raise ValueError(f"visibility {tuple(visible.shape)} for {len(ids)} rows after {first}")
        at = torch.tensor(positions or list(range(first, first + len(ids))), dtype=wide(self.dtype))
        trace = Trace(torch.empty(0), [], [], [], [])
        x = w["embed"][torch.tensor(ids)]
        for layer in range(s.layers):
            kept = past[layer] if past is not None else None
            h = rms_norm(x, w[f"{layer}.attn_norm"], s.eps)
            x = x + self._attention(layer, h, at, visible, kept, trace)
            h = rms_norm(x, w[f"{layer}.mlp_norm"], s.eps)
            if s.experts is None or layer in s.experts.dense:
                trace.routing.append(None)
                x = x + self._gated(f"{layer}.", h)
            else:
                x = x + self._experts(layer, h, trace)
        x = rms_norm(x, w["final_norm"], s.eps)
        trace.logits = linear(x, w["embed"] if s.tied else w["head"])
        return trace

    def _tables(self, at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        s = self.shape
        if s.yarn is not None:
            frequencies = yarn_frequencies(s.head_dim, s.theta, s.yarn, at.dtype)
            factor = yarn_attention_factor(s.yarn)
        else:
            frequencies, factor = plain_frequencies(s.rotary_width or s.head_dim, s.theta, at.dtype), 1.0
        angles = at[:, None] * frequencies[None, :]
        return angles.cos() * factor, angles.sin() * factor

    def _attention(
        self, layer: int, h: torch.Tensor, at: torch.Tensor, visible: torch.Tensor, kept: tuple | None, trace: Trace
    ) -> torch.Tensor:
        s, w = self.shape, self.weights
        rows = h.shape[0]

        def heads(name: str, count: int) -> torch.Tensor:
            y = linear(h, w[f"{layer}.{name}"], w.get(f"{layer}.{name}_bias"))
            return y.view(rows, count, s.head_dim).transpose(0, 1)

        q, k, v = heads("q", s.heads), heads("k", s.kv_heads), heads("v", s.kv_heads)
        if s.qk_norm:
            q = rms_norm(q, w[f"{layer}.q_norm"], s.eps)
            k = rms_norm(k, w[f"{layer}.k_norm"], s.eps)
        cos, sin = self._tables(at)
        if s.full_precision_rope:
            q, k = (rotate(x.to(cos.dtype), cos, sin).to(self.dtype) for x in (q, k))
        else:
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if s.yarn is not None and s.yarn.query_beta is not None:
            q = q * query_factor(at, s.yarn.query_beta, s.yarn.original_length).to(self.dtype)[None, :, None]
        trace.keys.append(k)
        trace.values.append(v)
        if kept is not None:
            k, v = torch.cat([kept[0], k], dim=1), torch.cat([kept[1], v], dim=1)
        group = s.heads // s.kv_heads
        scores = product(q, k.repeat_interleave(group, 0).transpose(1, 2)) * (1 / math.sqrt(s.head_dim))
        scores = scores.masked_fill(~visible, -math.inf)
        p = torch.softmax(scores.to(wide(self.dtype)), dim=-1).to(self.dtype)
        trace.attention.append(p)
        mixed = product(p, v.repeat_interleave(group, 0)).transpose(0, 1).reshape(rows, s.heads * s.head_dim)
        return linear(mixed, w[f"{layer}.o"])

    def _gated(self, prefix: str, h: torch.Tensor) -> torch.Tensor:
        w = self.weights
        return linear(silu(linear(h, w[prefix + "gate"])) * linear(h, w[prefix + "up"]), w[prefix + "down"])

    def _experts(self, layer: int, h: torch.Tensor, trace: Trace) -> torch.Tensor:
        e, w = self.shape.experts, self.weights
        if e.kind == "softmax":
            bias = w[f"{layer}.router_bias"] if e.bias else None
            routing = softmax_router(linear(h, w[f"{layer}.router"]), e.top, e.renormalise, bias)
        else:  # everything in the wide type
            logits = linear(h.to(wide(self.dtype)), w[f"{layer}.router"])
            bias = w[f"{layer}.router_bias"].to(logits.dtype)
            routing = sigmoid_router(logits, bias, e.top, e.groups, e.kept_groups, e.scaling)
        trace.routing.append(routing)
        weights = routing.weights if e.float32_weights else routing.weights.to(self.dtype)
        y = torch.zeros(h.shape, dtype=wide(self.dtype) if e.kind == "sigmoid" else self.dtype)
        for expert in range(e.count):  # rising expert number, as the reference adds them up
            row, slot = torch.nonzero(routing.experts == expert, as_tuple=True)
            if len(row):
                out = self._gated(f"{layer}.expert_{expert}.", h[row])
                y[row] = y[row] + (weights[row, slot, None] * out).to(y.dtype)
        y = y.to(self.dtype)
        if e.shared_width:
            y = y + self._gated(f"{layer}.shared.", h)
        return y
