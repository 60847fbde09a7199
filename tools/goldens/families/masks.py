"""Visibility of keys as boolean matrices: row i sees key j."""

from __future__ import annotations

import torch


def block_number(position: int, block: int, origin: int) -> int:
    return (position - origin) // block  # rounds down, also left of the origin


def block_causal(length: int, block: int, origin: int = 0) -> torch.Tensor:
    numbers = torch.tensor([block_number(p, block, origin) for p in range(length)])
    return numbers[None, :] <= numbers[:, None]


def causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def full(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool)


def causal_then_block(length: int, start: int) -> torch.Tensor:
    """Nemotron: rows before `start` are token-causal, rows from `start` on see everything."""
    visible = causal(length)
    visible[start:] = True
    return visible


def prompt_then_blocks(length: int, prompt: int, block: int) -> torch.Tensor:
    """Nemotron with causal_context false: the prompt is one block, the rest is a grid that starts at its end."""
    numbers = torch.tensor([-1 if p < prompt else (p - prompt) // block for p in range(length)])
    return numbers[None, :] <= numbers[:, None]
