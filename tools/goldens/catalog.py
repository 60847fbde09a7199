"""The twelve tiny checkpoints."""

from __future__ import annotations

from dataclasses import replace

import torch

from checkpoints import Case, scaling_entry
from plain import ModelShape, RopeScaling

_LLADA = ModelShape(
    vocab=112, hidden=32, layers=2, heads=4, kv_heads=4, head_dim=8, mlp=64, eps=1e-5, theta=500000.0,
    causal=False, full_precision_rope=True,
)
_DREAM = ModelShape(
    vocab=112, hidden=32, layers=3, heads=4, kv_heads=2, head_dim=8, mlp=48, eps=1e-6, theta=1000000.0,
    causal=False, qkv_bias=True,
)
_LLAMA3 = ModelShape(
    vocab=104, hidden=32, layers=2, heads=4, kv_heads=1, head_dim=8, mlp=56, eps=1e-5, theta=500000.0, causal=True,
)
# With head_dim 16 and an original length of 64 the first frequency stays, the second is blended, the rest are scaled.
_LLAMA31 = replace(
    _LLAMA3, vocab=96, hidden=64, kv_heads=2, head_dim=16, mlp=48, rope_scaling=RopeScaling(8.0, 1.0, 4.0, 64)
)
_QWEN2 = ModelShape(
    vocab=100, hidden=32, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=72, eps=1e-6, theta=1000000.0,
    causal=True, qkv_bias=True,
)
_QWEN3 = ModelShape(
    vocab=96, hidden=40, layers=2, heads=4, kv_heads=2, head_dim=16, mlp=64, eps=1e-6, theta=1000000.0,
    causal=True, qk_norm=True, tied=True,
)

_NEW_ROPE_KEYS = {
    "rope_scaling": ...,
    "rope_theta": ...,
    "rope_parameters": (scaling_entry(_LLAMA31) or {}) | {"rope_theta": _LLAMA31.theta},
    "torch_dtype": ...,
    "dtype": "bfloat16",
}

CASES = [
    Case("llada-f32", "llada", _LLADA, torch.float32, 101, 104, mask_id=103, shards=2,
         config_extra={"vocab_size": 104}),
    Case("llada-bf16", "llada", replace(_LLADA, hidden=64, head_dim=16), torch.bfloat16, 102, 104, mask_id=103,
         config_extra={"n_kv_heads": None}),
    Case("dream-f32", "dream", _DREAM, torch.float32, 201, 98, mask_id=97),
    Case("dream-bf16", "dream", _DREAM, torch.bfloat16, 202, 98, mask_id=97),
    Case("llama3-f32", "llama", _LLAMA3, torch.float32, 301, 104, config_extra={"head_dim": ...}),
    Case("llama31-f32", "llama", _LLAMA31, torch.float32, 302, 96, config_extra={"eos_token_id": [1, 2, 3]}),
    Case("llama31-bf16", "llama", _LLAMA31, torch.bfloat16, 303, 96, config_extra=_NEW_ROPE_KEYS),
    Case("llama3-f16", "llama", _LLAMA3, torch.float16, 304, 104),
    Case("qwen2-f32", "qwen2", _QWEN2, torch.float32, 401, 96),
    Case("qwen2-tied-bf16", "qwen2", replace(_QWEN2, tied=True), torch.bfloat16, 402, 96),
    Case("qwen3-f32", "qwen3", _QWEN3, torch.float32, 501, 96, config_extra={"rope_theta": 1000000}),
    Case("qwen3-bf16", "qwen3", replace(_QWEN3, tied=False), torch.bfloat16, 502, 96),
]
