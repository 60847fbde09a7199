"""Comparison of the plain float32 forward pass with transformers, loaded from the written checkpoint folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
import transformers

from checkpoints import ARCHITECTURES, Case, stored_name
from plain import Trace, Weights

TOLERANCE = 1e-5
CHECKED_FAMILIES = ("llama", "qwen2", "qwen3")


@dataclass
class CrossCheck:
    logits: torch.Tensor
    logits_difference: float
    attention_difference: float

    @property
    def passed(self) -> bool:
        return max(self.logits_difference, self.attention_difference) <= TOLERANCE


def load_reference(folder: Path, case: Case, weights: Weights) -> torch.nn.Module:
    """The transformers model in float32; its parameters must be the stored ones."""
    model_class = getattr(transformers, ARCHITECTURES[case.family])
    model = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    loaded = model.state_dict()
    for name, tensor in weights.items():
        key = stored_name(case.family, name)
        if not torch.equal(loaded[key], tensor.to(torch.float32)):
            raise SystemExit(f"{case.name}: transformers loaded other values for {key}")
    return model


@torch.no_grad()
def cross_check(model: torch.nn.Module, ids: list[int], plain: Trace) -> CrossCheck:
    """Differences are relative to the largest logit; attention probabilities are compared as they are."""
    output = model(input_ids=torch.tensor([ids]), output_attentions=True, use_cache=False)
    logits = output.logits[0].float()
    difference = (logits - plain.logits).abs().max() / logits.abs().max()
    attention = max(
        (theirs[0] - ours).abs().max().item() for theirs, ours in zip(output.attentions, plain.attention, strict=True)
    )
    return CrossCheck(logits.contiguous(), difference.item(), attention)
