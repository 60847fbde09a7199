"""LLaDA2.0 and 2.1 (section 4): fused qkv, half rotary, sigmoid group router; mask filling, then token editing."""

from __future__ import annotations

import math

import torch

from plain import Weights

from .body import Experts, Shape
from .cases import Case, Spec, hf_name, in_bfloat16, token_at
from .masks import block_causal
from .session import Session, cut, quota

MASK = 50


def canvas(session: Session) -> tuple[int, int]:
    """Appends the masks and stores the prompt's whole blocks; returns the first block's start and the block length."""
    block = session.options["block_length"]
    total = session.prompt_length + session.options["max_new_tokens"]
    session.append_masks(block * math.ceil(total / block))
    whole = block * (session.prompt_length // block)
    session.store("prefill", 0, whole, block_causal(whole, block))
    return whole, block


def fill(session: Session, confidence: dict[int, float], exact: dict[int, bool], count: int) -> list[int]:
    """All above the threshold, or the `count` best if those are fewer."""
    sure = session.above(confidence, session.options["threshold"])
    count = min(count, len(confidence))
    return sure if len(sure) >= count else session.best(confidence, count, exact)


def generated_eos(session: Session, end: int) -> bool:
    return session.options["eos_token_id"] in session.x[session.prompt_length : end]


def llada2(session: Session) -> None:
    """2.0. Options: max_new_tokens, block_length, steps, minimal_topk, threshold, temperature, top_k, top_p,
    eos_early_stop, eos_token_id. A cached run makes a finishing forward only where another block follows."""
    options, prompt = session.options, session.prompt_length
    steps = min(options["steps"], options["max_new_tokens"] // options["minimal_topk"])
    first, block = canvas(session)
    stopped = False
    for start in range(first, len(session.x), block):
        end = start + block
        visible = block_causal(end, block)
        for count in quota(block, steps):
            masks = session.masks(start, end)
            if not masks or stopped:
                break
            logits = session.rows("denoise", start, end, visible)
            proposals = {p: session.drawn(logits[p - start], p) for p in masks}
            chosen = fill(session, {p: c for p, (_, c, _) in proposals.items()},
                          {p: e for p, (_, _, e) in proposals.items()}, count)
            for p in sorted(chosen):
                session.reveal(p, proposals[p][0])
            if options["eos_early_stop"] and any(proposals[p][0] == options["eos_token_id"] for p in chosen):
                eos = session.x.index(options["eos_token_id"], prompt)
                stopped = session.mask not in session.x[prompt:eos]
        if stopped or generated_eos(session, end):
            break
        if end < len(session.x):
            session.store("finish", start, end, visible)
    session.ids = cut(session, options["max_new_tokens"], [options["eos_token_id"]])


def llada21(session: Session) -> None:
    """2.1. Options: max_new_tokens, block_length, threshold, editing_threshold, max_post_steps, num_to_transfer,
    temperature, top_k, top_p, eos_early_stop, eos_token_id, repeat_penalty (SGLang's; 0 is off)."""
    options, prompt = session.options, session.prompt_length
    first, block = canvas(session)
    for start in range(first, len(session.x), block):
        end = start + block
        visible = block_causal(end, block)
        post = 0
        settled = False
        while True:
            masks = session.masks(start, end)
            if not masks:
                post += 1
                if post > options["max_post_steps"]:
                    break
            logits = session.rows("denoise", start, end, visible)
            if options["repeat_penalty"]:
                for p in range(start + 1, end):
                    logits[p - start, session.x[p - 1]] -= options["repeat_penalty"]
            proposals = {p: session.drawn(logits[p - start], p) for p in range(start, end)}
            chosen = []
            if masks:
                chosen = fill(session, {p: proposals[p][1] for p in masks}, {p: proposals[p][2] for p in masks},
                              options["num_to_transfer"])
            written = {p: proposals[p][1] for p in range(max(start, prompt), end)
                       if p not in masks and proposals[p][0] != session.x[p]}
            edits = session.above(written, options["editing_threshold"])
            for p in sorted([*chosen, *edits]):
                session.reveal(p, proposals[p][0])
            if not masks and not edits:
                settled = True
                break
        if options["eos_early_stop"] and generated_eos(session, end):
            break
        if end < len(session.x):
            if settled:
                session.keep()  # the last forward changed nothing: its keys and values are final
            else:
                session.store("finish", start, end, visible)
    session.ids = cut(session, options["max_new_tokens"], [options["eos_token_id"]])


def edited(session: Session) -> bool:
    positions = [p for _, p, _ in session.reveals]
    return len(positions) > len(set(positions))


_20 = {"max_new_tokens": 12, "block_length": 4, "steps": 4, "minimal_topk": 1, "threshold": 0.5, "temperature": 0.0,
       "top_k": None, "top_p": None, "eos_early_stop": False, "eos_token_id": 1}
_21 = {"max_new_tokens": 12, "block_length": 4, "threshold": 0.5, "editing_threshold": 0.5, "max_post_steps": 16,
       "num_to_transfer": 1, "temperature": 0.0, "top_k": None, "top_p": None, "eos_early_stop": False,
       "eos_token_id": 1, "repeat_penalty": 0.0}
_8 = {"block_length": 8, "max_new_tokens": 16}

SPECS = [
    Spec("v20_threshold", llada2, _20, 6, unlike={"threshold": 2.0}),
    Spec("v20_quota", llada2, _20 | {"threshold": 1.0}, 6),
    Spec("v20_prompt_of_whole_blocks", llada2, _20, 8),
    Spec("v20_block8", llada2, _20 | _8 | {"steps": 8}, 3, unlike={"block_length": 4}),
    Spec("v20_few_steps", llada2, _20 | _8 | {"steps": 3, "threshold": 0.6}, 5, unlike={"steps": 8}),
    Spec("v20_minimal_topk", llada2, _20 | {"minimal_topk": 4, "max_new_tokens": 10, "threshold": 0.9}, 6,
         unlike={"minimal_topk": 1}),
    Spec("v20_temperature", llada2, _20 | {"temperature": 0.8, "top_k": 8, "top_p": 0.9}, 7,
         unlike={"temperature": 0.0, "top_k": None}),
    Spec("v20_stop", llada2, _20 | {"max_new_tokens": 16}, 6, adapt=token_at("eos_token_id", 4, listed=False),
         unlike={"eos_token_id": 0}),
    Spec("v20_stop_in_mid_block", llada2, _20 | _8 | {"steps": 8, "threshold": 1.0, "eos_early_stop": True}, 6,
         adapt=token_at("eos_token_id", 5, listed=False), unlike={"eos_early_stop": False},
         holds=lambda s: s.mask in s.x[: 8 * (len(s.x) // 8)] and s.ids[-1] == s.options["eos_token_id"]),
    Spec("v21_edit", llada21, _21, 6, unlike={"editing_threshold": 2.0}, holds=edited),
    Spec("v21_block8", llada21, _21 | _8, 5, unlike={"editing_threshold": 2.0}, holds=edited),
    Spec("v21_prompt_of_whole_blocks", llada21, _21, 8, holds=edited),
    Spec("v21_no_edit", llada21, _21 | {"editing_threshold": 2.0}, 6, unlike={"editing_threshold": 0.5}),
    Spec("v21_one_post_step", llada21, _21 | _8 | {"max_post_steps": 1, "editing_threshold": 0.2, "threshold": 0.2}, 6,
         holds=edited, unlike={"max_post_steps": 16}),
    Spec("v21_two_at_a_time", llada21, _21 | _8 | {"num_to_transfer": 2, "threshold": 0.9}, 6, holds=edited,
         unlike={"num_to_transfer": 1}),
    Spec("v21_temperature", llada21, _21 | {"temperature": 0.5, "max_post_steps": 3}, 6, holds=edited),
    Spec("v21_penalty", llada21, _21 | {"repeat_penalty": 2.0}, 6, unlike={"repeat_penalty": 0.0}, holds=edited),
    Spec("v21_past_eos", llada21, _21, 6, adapt=token_at("eos_token_id", 3, listed=False), unlike={"eos_token_id": 0},
         holds=lambda s: s.mask not in s.x),
    Spec("v21_early_stop", llada21, _21 | {"eos_early_stop": True, "max_new_tokens": 16}, 6,
         adapt=token_at("eos_token_id", 5, listed=False), unlike={"eos_early_stop": False}),
]


def fuse_qkv(tensors: Weights, shape: Shape) -> Weights:
    """q heads, then k heads, then v heads in one tensor."""
    fused: Weights = {}
    for name, tensor in tensors.items():
        if name.endswith("q_proj.weight"):
            parts = [tensors[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
            fused[name.replace("self_attn.q_proj", "attention.query_key_value")] = torch.cat(parts)
        elif not name.endswith(("k_proj.weight", "v_proj.weight")):
            fused[name] = tensor
    return fused


def stored_name(name: str) -> str:
    stored = hf_name(name)
    for ours, theirs in (
        ("embed_tokens", "word_embeddings"), ("self_attn.q_norm", "attention.query_layernorm"),
        ("self_attn.k_norm", "attention.key_layernorm"), ("self_attn.o_proj", "attention.dense"),
        ("mlp.expert_bias", "mlp.gate.expert_bias"),
    ):
        stored = stored.replace(ours, theirs)
    return stored


_SHAPE = Shape(vocab=64, hidden=16, layers=3, heads=4, kv_heads=2, head_dim=8, mlp=32, eps=1e-6, theta=600000.0,
               qk_norm=True, rotary_width=4,
               experts=Experts("sigmoid", count=8, top=3, width=8, dense=(0,), shared_width=8, groups=4,
                               kept_groups=2, scaling=2.5, bias=True, float32_weights=True))
_CONFIG = {
    "architectures": ["LLaDA2MoeModelLM"],
    "attention_dropout": 0.0,
    "embedding_dropout": 0.0,
    "first_k_dense_replace": 1,
    "head_dim": 8,
    "hidden_act": "silu",
    "hidden_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 32,
    "max_position_embeddings": 512,
    "max_window_layers": 3,
    "model_type": "llada2_moe",
    "moe_intermediate_size": 8,
    "moe_router_enable_expert_bias": True,
    "n_group": 4,
    "norm_topk_prob": True,
    "num_attention_heads": 4,
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "num_shared_experts": 1,
    "output_dropout": 0.0,
    "output_router_logits": False,
    "pad_token_id": 1,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 600000,
    "rotary_dim": 4,
    "routed_scaling_factor": 2.5,
    "router_dtype": "fp32",
    "score_function": "sigmoid",
    "sliding_window": 4096,
    "tie_word_embeddings": False,
    "topk_group": 2,
    "torch_dtype": "float32",
    "use_bias": False,
    "use_cache": True,
    "use_qk_norm": True,
    "use_qkv_bias": False,
    "use_rmsnorm": True,
    "use_sliding_window": False,
    "vocab_size": 64,
}

CASES = [
    Case("llada2-f32", _SHAPE, 1801, 64, _CONFIG, {"eos_token_id": 1, "pad_token_id": 1},
         {"block4": lambda n: block_causal(n, 4)}, stored_name, SPECS, mask_id=MASK, pack=fuse_qkv),
]
CASES.append(in_bfloat16(CASES[0], 1811, ["v20_threshold", "v21_edit"]))
