"""iLLaDA-8B: LLaDA's inference with mask 5, eos 2, pad 1, bos 0. Its config was not seen: LLaDA's."""

from __future__ import annotations

import torch

import checkpoints
from plain import ModelShape

from .body import Shape
from .cases import Case, Spec
from .loop_masked import mdlm
from .masks import full

MASK = 5
_OPTIONS = {"max_new_tokens": 12, "steps": 12, "block_length": 4, "temperature": 0.0, "cfg_scale": 0.0,
            "schedule": "quota"}
_SHAPE = Shape(vocab=64, hidden=16, layers=1, heads=2, kv_heads=2, head_dim=8, mlp=24, eps=1e-5, theta=500000.0,
               full_precision_rope=True)
_CONFIG = checkpoints.llada_config(
    checkpoints.Case("illada", "llada", ModelShape(64, 16, 1, 2, 2, 8, 24, 1e-5, 500000.0, False), torch.float32, 0, 0)
) | {"bos_token_id": 0, "eos_token_id": 2, "mask_token_id": MASK, "pad_token_id": 1}

CASES = [
    Case("illada-f32", _SHAPE, 1601, 64, _CONFIG, {"bos_token_id": 0, "eos_token_id": 2}, {"full": full},
         lambda name: checkpoints.stored_name("llada", name),
         [Spec("blocks", mdlm, _OPTIONS, 5, cached=False),
          Spec("one_block", mdlm, _OPTIONS | {"block_length": 12, "steps": 6}, 6, cached=False)], mask_id=MASK),
]
