"""Nemotron-Labs-Diffusion (section 2): one set of weights, an autoregressive and a diffusion reading."""

from __future__ import annotations

from dataclasses import replace

from .body import Shape
from .cases import Case, Spec, hf_name, in_bfloat16, token_at
from .loop_masked import autoregressive
from .masks import causal, causal_then_block, prompt_then_blocks
from .rotary import Yarn
from .session import Session, cut, quota

MASK = 50


def nemotron(session: Session) -> None:
    """Options: max_new_tokens, block_length, steps_per_block, threshold (or null), temperature, causal_context,
    stop_token_ids."""
    options, prompt = session.options, session.prompt_length
    block, causal_context, threshold = options["block_length"], options["causal_context"], options["threshold"]
    seed = None
    if causal_context:
        logits = session.rows("prefill", 0, prompt, causal(prompt))
        session.keep()
        seed = session.drawn(logits[-1], prompt)[0]
    else:
        session.store("prefill", 0, prompt, prompt_then_blocks(prompt, prompt, block))
    for _ in range(options["max_new_tokens"] // block):
        start = len(session.x)
        end = start + block
        if causal_context:
            session.append_seed(seed)
            visible = causal_then_block(end, start)
        else:
            visible = prompt_then_blocks(end, prompt, block)
        session.append_masks(end)
        for count in quota(len(session.masks(start, end)), options["steps_per_block"]):
            masks = session.masks(start, end)
            if not masks:
                break
            logits = session.rows("denoise", start, end, visible)
            proposals = {p: session.noisy(logits[p - start], p) for p in masks}
            confidence = {p: c for p, (_, c, _) in proposals.items()}
            if threshold is None:
                chosen = session.best(confidence, count)
            else:
                chosen = sorted({*session.best(confidence, 1), *session.above(confidence, threshold, inclusive=True)})
            for p in sorted(chosen):
                session.reveal(p, proposals[p][0])
            if eos_stands(session, start, end):
                break
        if causal_context:
            logits = session.rows("finish", start, end, causal(end))
            session.keep()
            seed = session.drawn(logits[-1], end)[0]
        else:
            session.store("finish", start, end, visible)
        if any(token in options["stop_token_ids"] for token in session.x[prompt:end]):
            break
    session.ids = cut(session, options["max_new_tokens"], options["stop_token_ids"])


def eos_stands(session: Session, start: int, end: int) -> bool:
    """An eos stands in the block with no mask before it."""
    for p in range(start, end):
        if session.x[p] == session.mask:
            return False
        if session.x[p] in session.options["stop_token_ids"]:
            return True
    return False


_OPTIONS = {"max_new_tokens": 12, "block_length": 4, "steps_per_block": 4, "threshold": None, "temperature": 0.0,
            "causal_context": True, "stop_token_ids": [2]}
_BIDIRECTIONAL = {"causal_context": False}
_AR = {"max_new_tokens": 12, "temperature": 0.0, "top_k": 0, "top_p": 1.0, "stop_token_ids": [2]}

SPECS = [
    Spec("ar_greedy", autoregressive, _AR, 5),
    Spec("ar_temperature", autoregressive, _AR | {"temperature": 0.8}, 6, unlike={"temperature": 0.0}),
    Spec("ar_stop", autoregressive, _AR, 6, adapt=token_at("stop_token_ids", 4), unlike={"stop_token_ids": []}),
    Spec("quota", nemotron, _OPTIONS, 5, unlike=_BIDIRECTIONAL),
    Spec("quota_prompt_of_a_block", nemotron, _OPTIONS, 8),
    Spec("block8", nemotron, _OPTIONS | {"block_length": 8, "steps_per_block": 8, "max_new_tokens": 16}, 6),
    Spec("few_steps", nemotron, _OPTIONS | {"block_length": 8, "steps_per_block": 3, "max_new_tokens": 16}, 7),
    Spec("threshold", nemotron, _OPTIONS | {"block_length": 8, "steps_per_block": 8, "max_new_tokens": 16,
                                            "threshold": 0.5}, 6, unlike={"threshold": None}),
    Spec("temperature", nemotron, _OPTIONS | {"temperature": 0.7}, 6, unlike={"temperature": 0.0}),
    Spec("stop_in_mid_block", nemotron, _OPTIONS | {"block_length": 8, "steps_per_block": 8, "max_new_tokens": 24}, 5,
         adapt=token_at("stop_token_ids", 10), unlike={"stop_token_ids": []},
         holds=lambda s: s.mask in s.x and len(s.x) == 21),
    Spec("bidirectional_context", nemotron, _OPTIONS | _BIDIRECTIONAL, 6, unlike={"causal_context": True}),
    Spec("bidirectional_context_threshold", nemotron, _OPTIONS | _BIDIRECTIONAL | {"threshold": 0.4}, 7,
         unlike={"threshold": None}),
]


def stored_name(name: str) -> str:
    if name == "head":
        return "diffusion_head.weight"
    return hf_name(name).replace("model.", "encoder.", 1)


# The original length is 6 and beta_slow 0.25, so that short rows reach the scaled queries and one pair of numbers is
# blended by the ramp.
_YARN = Yarn(16.0, 6, 32.0, 0.25, 1.0, 1.0, query_beta=0.1)
_SHAPE = Shape(vocab=64, hidden=16, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=24, eps=1e-5, theta=100.0,
               yarn=_YARN)
_ROPE = {
    "beta_fast": 32.0, "beta_slow": 0.25, "factor": 16.0, "llama_4_scaling_beta": 0.1, "mscale": 1.0,
    "mscale_all_dim": 1.0, "original_max_position_embeddings": 6, "rope_theta": 100.0, "rope_type": "yarn",
}
_CONFIG = {
    "architectures": ["NemotronLabsDiffusionModel"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "block_size": 4,
    "bos_token_id": 1,
    "dlm_paradigm": "bidirectional",
    "dtype": "float32",
    "eos_token_id": 2,
    "head_dim": 8,
    "hidden_act": "silu",
    "hidden_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 24,
    "mask_token_id": MASK,
    "max_position_embeddings": 512,
    "mlp_bias": False,
    "model_type": "nemotron_labs_diffusion",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-05,
    "rope_parameters": _ROPE,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "use_cache": False,
    "vocab_size": 64,
}

CASES = [
    Case("nemotron-f32", _SHAPE, 1401, 60, _CONFIG, {"bos_token_id": 1, "eos_token_id": 2},
         {"causal": causal, "causal5_then_block4": lambda n: causal_then_block(n, 5),
          "prompt5_then_blocks2": lambda n: prompt_then_blocks(n, 5, 2)},
         stored_name, SPECS, mask_id=MASK,
         # The same file with another rope_parameters entry, causal.
         other_shapes={"causal_factor_quarter": replace(_SHAPE, yarn=replace(_YARN, factor=0.25)),
                       "causal_without_mscale": replace(_SHAPE, yarn=replace(_YARN, mscale=None, mscale_all_dim=None))},
         config_changes={"causal_factor_quarter": {"rope_parameters": _ROPE | {"factor": 0.25}},
                         "causal_without_mscale": {"rope_parameters": {key: value for key, value in _ROPE.items()
                                                                       if not key.startswith("mscale")}}},
         block_key="block_size"),
]
CASES.append(in_bfloat16(CASES[0], 1411, ["ar_greedy", "quota"]))
