"""A2D Qwen3 and Qwen2.5 (dllm): mdlm and bd3lm on one body. Section 6.1."""

from __future__ import annotations

import math

import numpy as np

from plain import Weights

from .body import Shape
from .cases import Case, Spec, frequent_token, hf_name, in_bfloat16, token_at
from .loop_masked import mdlm, random_order
from .masks import block_causal, full
from .session import Session, cut, dllm_counts, quota

MASK = 75


def bd3lm(session: Session) -> None:
    """Blocks from the prompt's end; the grid ends at the prompt's end, so the prompt's first block is the short one.

    Options: max_new_tokens, steps, block_length, temperature, cfg_scale, schedule, right_shift, remasking,
    stop_token_ids. With guidance, the second pass sees MASK in the place of the prompt, in the prefix as well.
    """
    options, prompt = session.options, session.prompt_length
    block, length = options["block_length"], options["max_new_tokens"]
    steps = math.ceil(options["steps"] / math.ceil(length / block))
    start = prompt
    while start < prompt + length:
        end = min(start + block, prompt + length)
        before = None
        if options["right_shift"] or session.cached:  # the reference forwards the whole prefix here
            first = session.kept if session.cached else 0
            rows = session.rows("prefill" if start == prompt else "finish", first, start,
                                block_causal(start, block, prompt))
            session.keep()
            before = guided(session, rows[-1:], start - 1, start)[0]
        session.append_masks(end)
        schedule = dllm_counts if options["schedule"] == "dllm" else quota
        for count in schedule(end - start, steps):
            if count == 0 or not session.masks(start, end):
                raise RuntimeError("a step without a reveal: its forward is not defined by the page")
            logits = guided(session, session.rows("denoise", start, end, block_causal(end, block, prompt)), start, end)
            rows = {p: logits[p - start] for p in range(start, end)}
            if options["right_shift"]:
                rows = {p: before if p == start else logits[p - 1 - start] for p in range(start, end)}
            proposals = {p: session.noisy(rows[p], p) for p in session.masks(start, end)}
            if options.get("remasking") == "random":
                confidence = random_order(session, proposals)
            else:
                confidence = {p: c for p, (_, c, _) in proposals.items()}
            for p in session.best(confidence, count):
                session.reveal(p, proposals[p][0])
        if any(token in options["stop_token_ids"] for token in session.x[start:end]):
            break
        start = end
    session.ids = cut(session, length, options["stop_token_ids"])


def guided(session: Session, logits: np.ndarray, start: int, end: int) -> np.ndarray:
    """Logits of rows start..end-1 with guidance; the two passes are one step."""
    scale = session.options["cfg_scale"]
    if scale == 0:
        return logits
    hidden = [session.mask] * session.prompt_length + session.x[session.prompt_length : end]
    visible = block_causal(end, session.options["block_length"], session.prompt_length)
    without = session.body.forward(hidden[:end], visible).logits[start:].double().numpy()
    with np.errstate(invalid="ignore"):
        mixed = without + (scale + 1) * (logits - without)
    return np.where(np.isinf(logits), logits, mixed)


def store_tied_head(tensors: Weights, shape: Shape) -> Weights:
    """The base ties the head; dllm stores it all the same."""
    return tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"]}


_MDLM = {"max_new_tokens": 16, "steps": 16, "block_length": 16, "temperature": 0.0, "cfg_scale": 0.0,
         "schedule": "quota"}
_BD3LM = {"max_new_tokens": 12, "steps": 12, "block_length": 4, "temperature": 0.0, "cfg_scale": 0.0,
          "schedule": "quota", "right_shift": False, "stop_token_ids": [1]}

MDLM_SPECS = [
    Spec("mdlm_greedy", mdlm, _MDLM, 5, cached=False),
    Spec("mdlm_blocks", mdlm, _MDLM | {"block_length": 4}, 6, cached=False),
    Spec("mdlm_quota", mdlm, _MDLM | {"max_new_tokens": 20, "block_length": 10, "steps": 8}, 5, cached=False,
         unlike={"schedule": "dllm"}),
    Spec("mdlm_dllm_rounding", mdlm,
         _MDLM | {"max_new_tokens": 20, "block_length": 10, "steps": 6, "schedule": "dllm"}, 7, cached=False,
         unlike={"schedule": "quota"}),
    Spec("mdlm_temperature", mdlm, _MDLM | {"temperature": 0.7, "block_length": 8}, 5, cached=False,
         unlike={"temperature": 0.0}),
    Spec("mdlm_random_order", mdlm, _MDLM | {"remasking": "random"}, 5, cached=False),
    Spec("mdlm_cfg", mdlm, _MDLM | {"cfg_scale": 1.5}, 6, cached=False, unlike={"cfg_scale": 0.0}),
    Spec("mdlm_mask_forbidden", mdlm, _MDLM, 5, cached=False, mask_bites=True),
]

BD3LM_SPECS = [
    Spec("bd3lm_greedy", bd3lm, _BD3LM, 6),
    Spec("bd3lm_prompt_of_whole_blocks", bd3lm, _BD3LM, 8),
    Spec("bd3lm_prompt_shorter_than_block", bd3lm, _BD3LM | {"block_length": 8, "max_new_tokens": 16, "steps": 8}, 3,
         unlike={"block_length": 4}),
    Spec("bd3lm_last_block_short", bd3lm, _BD3LM | {"max_new_tokens": 10, "steps": 6}, 5),
    Spec("bd3lm_dllm_rounding", bd3lm,
         _BD3LM | {"block_length": 10, "max_new_tokens": 20, "steps": 6, "schedule": "dllm"}, 7,
         unlike={"schedule": "quota"}),
    Spec("bd3lm_dllm_more_steps_than_masks", bd3lm,
         _BD3LM | {"block_length": 4, "max_new_tokens": 8, "steps": 14, "schedule": "dllm"}, 7),
    Spec("bd3lm_temperature", bd3lm, _BD3LM | {"temperature": 0.8}, 7, unlike={"temperature": 0.0}),
    Spec("bd3lm_right_shift", bd3lm, _BD3LM | {"right_shift": True}, 6, unlike={"right_shift": False}),
    Spec("bd3lm_stop", bd3lm, _BD3LM | {"max_new_tokens": 16, "steps": 16}, 6,
         adapt=token_at("stop_token_ids", 5), unlike={"stop_token_ids": []}),
    Spec("bd3lm_mask_forbidden", bd3lm, _BD3LM, 6, mask_bites=True, cached=False),
    Spec("bd3lm_cfg", bd3lm, _BD3LM | {"cfg_scale": 1.0}, 6, unlike={"cfg_scale": 0.0}),
    Spec("bd3lm_cfg_right_shift", bd3lm, _BD3LM | {"cfg_scale": 0.5, "right_shift": True}, 7,
         unlike={"cfg_scale": 0.0, "right_shift": False}),
    Spec("bd3lm_random_order", bd3lm, _BD3LM | {"remasking": "random"}, 6, unlike={"remasking": "low_confidence"}),
]

READINGS = {
    "full": full,
    "block4_origin3": lambda n: block_causal(n, 4, 3),
}

_QWEN3 = Shape(vocab=80, hidden=16, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=24, eps=1e-6, theta=1000000.0,
               qk_norm=True, tied=True)
_QWEN2 = Shape(vocab=80, hidden=16, layers=2, heads=2, kv_heads=1, head_dim=8, mlp=24, eps=1e-6, theta=1000000.0,
               qkv_bias=True)


def qwen_config(shape: Shape, architecture: str, model_type: str, dtype: str = "float32") -> dict[str, object]:
    """Keys of Qwen3 (with q/k norm) or Qwen2.5."""
    config: dict[str, object] = {
        "architectures": [architecture],
        "attention_dropout": 0.0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "hidden_act": "silu",
        "hidden_size": shape.hidden,
        "initializer_range": 0.02,
        "intermediate_size": shape.mlp,
        "max_position_embeddings": 512,
        "max_window_layers": shape.layers,
        "model_type": model_type,
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "num_key_value_heads": shape.kv_heads,
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.theta,
        "sliding_window": None,
        "tie_word_embeddings": shape.tied,
        "torch_dtype": dtype,
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": shape.vocab,
    }
    if shape.qk_norm:
        config |= {"attention_bias": False, "head_dim": shape.head_dim, "rope_scaling": None}
    return config


GENERATION = {"bos_token_id": 0, "eos_token_id": [1, 0], "pad_token_id": 0}

CASES = [
    Case("a2d-qwen3-f32", _QWEN3, 1101, 75, qwen_config(_QWEN3, "A2DQwen3LMHeadModel", "a2d-qwen3"), GENERATION,
         READINGS, hf_name, MDLM_SPECS + BD3LM_SPECS, mask_id=MASK, pack=store_tied_head),
    Case("a2d-qwen2-f32", _QWEN2, 1102, 75, qwen_config(_QWEN2, "A2DQwen2LMHeadModel", "a2d-qwen2"), GENERATION,
         READINGS, hf_name,
         [MDLM_SPECS[1], BD3LM_SPECS[0], BD3LM_SPECS[7]], mask_id=MASK),
]
CASES.append(in_bfloat16(CASES[0], 1111, ["mdlm_blocks", "bd3lm_greedy"]))
