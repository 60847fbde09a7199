"""SDAR and TraDo (dense, section 3) and their loop, which SDAR-MoE shares."""

from __future__ import annotations

import math
from dataclasses import replace

from .a2d import GENERATION, qwen_config
from .body import Shape
from .cases import Case, Spec, hf_name, token_at
from .masks import block_causal
from .session import Session, cut, quota

MASK = 75


def sdar(session: Session) -> None:
    """Options: max_new_tokens, block_length, denoising_steps, temperature, top_k, top_p, remasking ("static",
    "dynamic", "sequential"), threshold, stop_token_ids.

    Greedy is temperature 0: argmax with its unfiltered probability.
    """
    options, prompt = session.options, session.prompt_length
    block, steps = options["block_length"], options["denoising_steps"]
    session.append_masks(block * math.ceil((prompt + options["max_new_tokens"]) / block))
    whole = block * (prompt // block)
    session.store("prefill", 0, whole, block_causal(whole, block))
    for start in range(whole, len(session.x), block):
        end = start + block
        visible = block_causal(end, block)
        for count in quota(block, steps):
            masks = session.masks(start, end)
            if not masks:
                break
            count = min(count, len(masks))
            logits = session.rows("denoise", start, end, visible)
            proposals = {p: session.drawn(logits[p - start], p) for p in masks}
            confidence = {p: c for p, (_, c, _) in proposals.items()}
            exact = {p: e for p, (_, _, e) in proposals.items()}
            if options["remasking"] == "sequential":
                chosen = masks[:count]
            else:
                chosen = session.above(confidence, options["threshold"]) if options["remasking"] == "dynamic" else []
                if len(chosen) < count or options["remasking"] == "static":
                    chosen = session.best(confidence, count, exact)
            for p in sorted(chosen):
                session.reveal(p, proposals[p][0])
        session.store("finish", start, end, visible)
        if any(token in options["stop_token_ids"] for token in session.x[prompt:end]):
            break
    session.ids = cut(session, options["max_new_tokens"], options["stop_token_ids"])


def mixed_steps(session: Session) -> bool:
    """Some step revealed one position and some step several."""
    counts: dict[int, int] = {}
    for step, _, _ in session.reveals:
        counts[step] = counts.get(step, 0) + 1
    return len(set(counts.values())) > 1


OPTIONS = {"max_new_tokens": 12, "block_length": 4, "denoising_steps": 4, "temperature": 0.0, "top_k": 0, "top_p": 1.0,
           "remasking": "dynamic", "threshold": 0.5, "stop_token_ids": [1, 0]}
_STATIC = {"remasking": "static"}

SPECS = [
    Spec("static", sdar, OPTIONS | _STATIC, 6, unlike={"remasking": "sequential"}),
    Spec("dynamic", sdar, OPTIONS, 6, unlike=_STATIC, holds=mixed_steps),
    Spec("sequential", sdar, OPTIONS | {"remasking": "sequential"}, 6, unlike=_STATIC),
    Spec("prompt_of_whole_blocks", sdar, OPTIONS | _STATIC, 8),
    Spec("prompt_shorter_than_block", sdar, OPTIONS | _STATIC | {"max_new_tokens": 6}, 3),
    Spec("block8", sdar, OPTIONS | _STATIC | {"block_length": 8, "denoising_steps": 8, "max_new_tokens": 16}, 11,
         unlike={"block_length": 4}),
    Spec("block8_dynamic_few_steps", sdar, OPTIONS | {"block_length": 8, "denoising_steps": 3, "max_new_tokens": 14},
         5, unlike={"threshold": 2.0}, holds=mixed_steps),
    Spec("few_steps", sdar, OPTIONS | _STATIC | {"denoising_steps": 2}, 7, unlike={"denoising_steps": 4}),
    Spec("dynamic_quota_two", sdar, OPTIONS | {"denoising_steps": 2, "threshold": 0.4}, 6, unlike=_STATIC),
    Spec("block1", sdar, OPTIONS | _STATIC | {"block_length": 1, "denoising_steps": 1, "max_new_tokens": 8}, 5),
    Spec("temperature", sdar, OPTIONS | {"temperature": 1.0, "threshold": 0.85}, 6, unlike={"temperature": 0.0}),
    Spec("temperature_top_k_top_p", sdar, OPTIONS | {"temperature": 0.8, "top_k": 6, "top_p": 0.85}, 6,
         unlike={"top_k": 0, "top_p": 1.0}),
    Spec("top_k_one", sdar, OPTIONS | {"temperature": 1.0, "top_k": 1, "threshold": 0.9}, 6, unlike=_STATIC),
    Spec("stop", sdar, OPTIONS | _STATIC | {"max_new_tokens": 16}, 6, adapt=token_at("stop_token_ids", 4),
         unlike={"stop_token_ids": []}),
    Spec("mask_forbidden", sdar, OPTIONS | _STATIC, 6, mask_bites=True, cached=False),
]

_SHAPE = Shape(vocab=80, hidden=16, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=24, eps=1e-6, theta=1000000.0,
               qk_norm=True)
_CONFIG = qwen_config(_SHAPE, "SDARForCausalLM", "sdar") | {
    "block_size": 4, "debug": False, "ep_size": 1, "fuse_cross_entropy": True, "mask_token_id": MASK,
    "micro_forward": False, "skip_checkpoint": False, "use_deepep": False,
}
_OLD_CONFIG = {key: value for key, value in _CONFIG.items() if key not in ("block_size", "mask_token_id")}

CASES = [
    Case("sdar-f32", _SHAPE, 1201, 75, _CONFIG, GENERATION | {"eos_token_id": [1, 0]},
         {"block4": lambda n: block_causal(n, 4), "block8": lambda n: block_causal(n, 8)}, hf_name, SPECS,
         mask_id=MASK, block_key="block_size"),
    # An older file: neither block_size nor mask_token_id.
    Case("sdar-old-config-f32", replace(_SHAPE, mlp=16, layers=1), 1202, 75,
         _OLD_CONFIG | {"intermediate_size": 16, "num_hidden_layers": 1, "max_window_layers": 1},
         GENERATION, {"block4": lambda n: block_causal(n, 4)}, hf_name, [SPECS[1]], mask_id=MASK),
]
