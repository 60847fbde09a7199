"""Open-dCoder 0.5B (section 6.2): Qwen2.5-Coder's body and architecture string, run as diffusion."""

from __future__ import annotations

from .a2d import qwen_config
from .body import Shape
from .cases import Case, Spec, hf_name
from .loop_dream import open_dcoder
from .masks import causal, full

MASK = 50

_OPTIONS = {"max_new_tokens": 12, "steps": 12, "algorithm": "entropy", "temperature": 0.0, "top_p": None, "top_k": None,
            "alg_temp": None, "eps": 0.001}


def remasked(session) -> bool:
    """Some position was revealed more than once."""
    positions = [p for _, p, _ in session.reveals]
    return len(positions) > len(set(positions))


def _spec(name: str, options: dict, prompt: int, **more) -> Spec:
    return Spec(name, open_dcoder, _OPTIONS | options, prompt, cached=False, **more)


SPECS = [
    _spec("entropy", {}, 5, unlike={"algorithm": "maskgit_plus"}),
    _spec("few_steps", {"steps": 5, "max_new_tokens": 16}, 6),
    _spec("more_steps_than_masks", {"steps": 13, "max_new_tokens": 8}, 6),
    _spec("maskgit_plus", {"algorithm": "maskgit_plus"}, 6),
    _spec("topk_margin", {"algorithm": "topk_margin"}, 6),
    _spec("origin", {"algorithm": "origin", "steps": 6}, 7),
    _spec("sampled", {"temperature": 0.9, "top_p": 0.8}, 7, unlike={"temperature": 0.0, "top_p": None}),
    _spec("alg_temp", {"alg_temp": 0.5}, 7, unlike={"alg_temp": None}),
    _spec("p2", {"algorithm": "p2", "steps": 4}, 6, holds=remasked),
    _spec("p2_uneven", {"algorithm": "p2", "steps": 8, "max_new_tokens": 13}, 7, holds=remasked),
    Spec("p2_infilling", open_dcoder, _OPTIONS | {"algorithm": "p2", "steps": 4, "max_new_tokens": 1}, 14, cached=False,
         mask_prompt=(3, 4, 5, 6, 7, 9, 10, 11), holds=remasked),
]

_SHAPE = Shape(vocab=64, hidden=16, layers=2, heads=2, kv_heads=1, head_dim=8, mlp=24, eps=1e-6, theta=1000000.0,
               qkv_bias=True, tied=True)

CASES = [
    Case("open-dcoder-f32", _SHAPE, 1502, 50, qwen_config(_SHAPE, "Qwen2ForCausalLM", "qwen2"),
         {"bos_token_id": 0, "eos_token_id": [1, 0], "pad_token_id": 0}, {"full": full, "causal": causal}, hf_name,
         SPECS, mask_id=MASK),
]
