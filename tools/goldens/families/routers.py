"""The two routers of the page's sections 1.4 and 1.5."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass
class Routing:
    """`experts` [T, k], best first; `weights` [T, k] beside them; `scores` [T, E] before the choice."""

    experts: torch.Tensor
    weights: torch.Tensor
    scores: torch.Tensor
    margin: float


def largest(values: torch.Tensor, count: int) -> tuple[torch.Tensor, float]:
    """Indices of the `count` largest per row (lower index on ties), and the smallest gap at the cut."""
    order = torch.sort(-values, dim=-1, stable=True).indices
    chosen = order[:, :count]
    if count == values.shape[-1]:
        return chosen, math.inf
    ranked = values.gather(-1, order)
    gap = ranked[:, count - 1] - ranked[:, count]
    return chosen, gap[torch.isfinite(gap)].min().item() if torch.isfinite(gap).any() else math.inf


def softmax_router(
    logits: torch.Tensor, top: int, renormalise: bool, bias: torch.Tensor | None = None
) -> Routing:
    """`bias` is LLaDA-MoE's: added to the softmax and kept in the weight."""
    work = torch.float64 if logits.dtype == torch.float64 else torch.float32
    p = torch.softmax(logits.to(work), dim=-1)
    if bias is not None:
        p = p + bias.to(work)
    experts, _ = largest(p, top)
    margin = largest(logits if bias is None else p, top)[1]
    weights = p.gather(-1, experts)
    if renormalise:
        weights = weights / weights.sum(-1, keepdim=True)
    return Routing(experts, weights, p, margin)


def group_scores(steered: torch.Tensor, groups: int) -> torch.Tensor:
    return steered.view(steered.shape[0], groups, -1).topk(2, dim=-1).values.sum(-1)


def sigmoid_router(
    logits: torch.Tensor, bias: torch.Tensor, top: int, groups: int, kept_groups: int, scaling: float
) -> Routing:
    """The bias steers the choice only; the weights are the plain sigmoids."""
    s = torch.sigmoid(logits)
    steered = s + bias
    scores = group_scores(steered, groups)
    kept, group_gap = largest(scores, kept_groups)
    size = steered.shape[-1] // groups
    allowed = torch.zeros_like(scores, dtype=torch.bool).scatter(1, kept, True).repeat_interleave(size, dim=1)
    experts, expert_gap = largest(torch.where(allowed, steered, torch.full_like(steered, -math.inf)), top)
    weights = s.gather(-1, experts)
    if top > 1:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return Routing(experts, weights * scaling, s, min(group_gap, expert_gap))
