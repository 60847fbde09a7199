"""The transformer that all models trained here share, and attention inside the documents of a packed row.

Three masks: causal; full; prefix (full over passages and questions, causal over answers).
"""

import contextlib
import math

import torch
import torch.nn.functional as F
from torch import nn

from checkpoint import NORM_EPS
from world_data import LONGEST

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:
    varlen_attn = None

MASKS = ("causal", "prefix", "full")


def seen_keys(count, begins, mask, prefix=None):
    """[queries, keys]: which keys of a packed row a query sees. The mask by its definition, for any device."""
    place = torch.arange(count, device=begins.device)
    document = torch.searchsorted(begins.contiguous(), place.to(begins.dtype), right=True)
    seen = document[:, None] == document[None, :]
    if mask == "full":
        return seen
    before = place[:, None] >= place[None, :]
    if mask == "prefix":
        before = before | (prefix["inside"][:, None] & prefix["inside"][None, :])
    return seen & before


def attend_plainly(q, k, v, seen):
    scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("hqk,khd->qhd", scores.masked_fill(~seen, -math.inf).softmax(-1), v)


def attend_by_calls(q, k, v, begins, mask, prefix, varlen):
    """The same by calls of `varlen`, attention inside each of many sequences that lie one behind the other.

    With the prefix mask a document holds its prefix first, then its answers; `prefix["begins"]` cuts documents there, and
    `prefix["inside"]` is true for prefix tokens. Two calls then: full attention inside each cut is right for the prefix,
    causal attention over the document for the answers.
    """
    call = lambda begins, window: varlen(q, k, v, begins, begins, LONGEST, LONGEST, window_size=window)
    full, causal = (-1, -1), (-1, 0)
    if mask != "prefix":
        return call(begins, full if mask == "full" else causal)
    return torch.where(prefix["inside"][:, None, None], call(prefix["begins"], full), call(begins, causal))


def attend(q, k, v, begins, mask, prefix=None):
    """Attention inside each document of a packed row. q, k, v: [T, heads, head_dim]; begins: where documents begin."""
    if q.is_cuda:
        return attend_by_calls(q, k, v, begins, mask, prefix, varlen_attn)
    return attend_plainly(q, k, v, seen_keys(q.shape[0], begins, mask, prefix))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + NORM_EPS) * self.weight


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads, self.mask = shape["heads"], shape["mask"]
        width, mlp = shape["width"], shape["mlp"]
        self.attention_norm, self.mlp_norm = Norm(width), Norm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.attention_out = nn.Linear(width, width, bias=False)
        self.gate_up = nn.Linear(width, 2 * mlp, bias=False)
        self.down = nn.Linear(mlp, width, bias=False)

    def forward(self, x, cos, sin, begins, prefix=None, look=None):
        """The residual stream behind this block, and what `look` says of its queries and keys."""
        q, k, v = self.qkv(self.attention_norm(x)).view(x.shape[0], 3, self.heads, -1).unbind(1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        x = x + self.attention_out(attend(q, k, v, begins, self.mask, prefix).flatten(1))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, -1)
        x = x + self.down(F.silu(gate) * up)
        return x, look(q, k) if look else None


def rotate(x, cos, sin):
    """Half-split rotary positions, in float32. x: [T, heads, d]; cos, sin: [T, 1, d / 2]."""
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


class Body(nn.Module):
    """shape: width, layers, heads, mlp, rope_theta, mask (one of MASKS), objective ("next" or "masked")."""

    def __init__(self, shape, vocabulary):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(vocabulary, shape["width"])
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape["layers"]))
        self.norm = Norm(shape["width"])
        self.head = nn.Linear(shape["width"], vocabulary, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:  # by fan-in; what is added to the residual stream, smaller by depth
                std = 1.0 if name.startswith("embedding") else weight.shape[1] ** -0.5
                if "attention_out" in name or "down" in name:
                    std /= math.sqrt(2 * shape["layers"])
                nn.init.normal_(weight, std=std)

    def stream(self, tokens, positions, begins, prefix=None, look=None):
        """The normalised last residual stream [T, width], and what `look` says, by block."""
        d = self.shape["width"] // self.shape["heads"]
        frequencies = self.shape["rope_theta"] ** (-torch.arange(0, d, 2, device=tokens.device).float() / d)
        angles = positions.float()[:, None, None] * frequencies
        cos, sin = angles.cos(), angles.sin()
        x, looks = self.embedding(tokens), []
        for block in self.blocks:
            x, seen = block(x, cos, sin, begins, prefix, look)
            looks.append(seen)
        return self.norm(x), looks

    def forward(self, tokens, positions, begins, prefix=None, look=None):
        """Logits [T, vocabulary]; with `look` also what it says, stacked over blocks."""
        x, looks = self.stream(tokens, positions, begins, prefix, look)
        logits = self.head(x)
        return (logits, *map(torch.stack, zip(*looks))) if look else logits


def half_precision(device):
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext()
