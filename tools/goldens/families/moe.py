"""Softmax mixtures of experts: Qwen3-MoE, Mixtral, LLaDA-MoE, SDAR-MoE, RND1 (sections 1.4, 3.2, 7, 8, 9)."""

from __future__ import annotations

from dataclasses import replace

import torch

from plain import Weights

from .a2d import qwen_config
from .body import Experts, Shape
from .cases import Case, Spec, hf_name, in_bfloat16, token_at
from .loop_dream import rnd1
from .loop_masked import autoregressive, mdlm
from .masks import block_causal, causal, full
from .sdar import OPTIONS as SDAR_OPTIONS
from .sdar import mixed_steps, sdar

MASK = 50
_IDS = {"bos_token_id": 0, "eos_token_id": [1, 0], "pad_token_id": 0}

_EXPERTS = Experts("softmax", count=8, top=3, width=8, renormalise=True)
_QWEN3 = Shape(vocab=64, hidden=16, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=32, eps=1e-6, theta=1000000.0,
               qk_norm=True, experts=_EXPERTS)


def qwen3_moe_config(shape: Shape, architecture: str, model_type: str, **more: object) -> dict[str, object]:
    e = shape.experts
    return qwen_config(shape, architecture, model_type) | {
        "decoder_sparse_step": 1,
        "mlp_only_layers": list(e.dense),
        "moe_intermediate_size": e.width,
        "norm_topk_prob": e.renormalise,
        "num_experts": e.count,
        "num_experts_per_tok": e.top,
        "output_router_logits": False,
        "router_aux_loss_coef": 0.001,
    } | more


# Autoregressive ----------------------------------------------------------------------------------------------------

_AR = {"max_new_tokens": 12, "temperature": 0.0, "top_k": 0, "top_p": 1.0, "stop_token_ids": [1]}
_AR_SPECS = [
    Spec("greedy", autoregressive, _AR, 5),
    Spec("temperature", autoregressive, _AR | {"temperature": 0.8, "top_p": 0.9}, 6, unlike={"temperature": 0.0}),
    Spec("stop", autoregressive, _AR, 6, adapt=token_at("stop_token_ids", 4), unlike={"stop_token_ids": []}),
]

# The middle layer of three is dense.
_QWEN3_AR = replace(_QWEN3, layers=3, experts=replace(_EXPERTS, dense=(1,)))


def stack_experts(tensors: Weights, shape: Shape) -> Weights:
    """transformers 5: gate and up in one tensor (gate rows first), experts in front."""
    stacked = {name: tensor for name, tensor in tensors.items() if ".experts." not in name}
    for layer in range(shape.layers):
        if layer in shape.experts.dense:
            continue
        prefix = f"model.layers.{layer}.mlp.experts."
        part = {
            what: torch.stack([tensors[f"{prefix}{e}.{what}_proj.weight"] for e in range(shape.experts.count)])
            for what in ("gate", "up", "down")
        }
        stacked[prefix + "gate_up_proj"] = torch.cat([part["gate"], part["up"]], dim=1)
        stacked[prefix + "down_proj"] = part["down"]
    return stacked


_STACKED = replace(_QWEN3, layers=1, experts=replace(_EXPERTS, count=4, top=2))
_STACKED_CONFIG = qwen3_moe_config(_STACKED, "Qwen3MoeForCausalLM", "qwen3_moe") | {"num_local_experts": 4}
del _STACKED_CONFIG["num_experts"]

_MIXTRAL = Shape(vocab=64, hidden=16, layers=2, heads=2, kv_heads=1, head_dim=8, mlp=16, eps=1e-5, theta=1000000.0,
                 experts=Experts("softmax", count=4, top=2, width=16, renormalise=True, float32_weights=True))
_MIXTRAL_CONFIG = {
    "architectures": ["MixtralForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "hidden_act": "silu",
    "hidden_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 16,
    "max_position_embeddings": 512,
    "model_type": "mixtral",
    "num_attention_heads": 2,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 2,
    "num_key_value_heads": 1,
    "num_local_experts": 4,
    "output_router_logits": False,
    "rms_norm_eps": 1e-05,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.02,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "use_cache": True,
    "vocab_size": 64,
}


def mixtral_name(name: str) -> str:
    stored = hf_name(name)
    for ours, theirs in (("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2")):
        stored = stored.replace(ours, theirs)
    return stored.replace(".mlp.", ".block_sparse_moe.")


# LLaDA-MoE -----------------------------------------------------------------------------------------------------------

_LLADA_MOE = Shape(vocab=64, hidden=16, layers=2, heads=2, kv_heads=2, head_dim=8, mlp=32, eps=1e-5, theta=50000.0,
                   qk_norm=True, experts=Experts("softmax", count=8, top=3, width=8, renormalise=False))
_LLADA_MOE_CONFIG = {
    "architectures": ["LLaDAMoEModel"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "clip_qkv": None,
    "dense_intermediate_size": 32,
    "eos_token_id": 1,
    "expert_intermediate_size": 8,
    "head_dim": 8,
    "hidden_act": "silu",
    "hidden_size": 16,
    "initializer_range": 0.02,
    "max_position_embeddings": 512,
    "model_type": "llada",
    "moe_layer_freq": [1, 1],
    "moe_router_enable_expert_bias": False,
    "moe_router_score_function": "softmax",
    "norm_topk_prob": None,
    "num_attention_heads": 2,
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "pad_token_id": 1,
    "partial_rotary_factor": 1,
    "qk_layernorm": True,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 50000,
    "routed_scaling_factor": 1.0,
    "router_num_group": None,
    "router_topk_group": None,
    "shared_expert_intermediate_size": None,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "use_cache": False,
    "vocab_size": 64,
}
_MDLM = {"max_new_tokens": 12, "steps": 12, "block_length": 12, "temperature": 0.0, "cfg_scale": 0.0,
         "schedule": "quota"}
_LLADA_MOE_SPECS = [
    Spec("greedy", mdlm, _MDLM, 5, cached=False),
    Spec("blocks", mdlm, _MDLM | {"block_length": 4, "steps": 6}, 6, cached=False),
    Spec("temperature", mdlm, _MDLM | {"temperature": 0.6, "steps": 6}, 5, cached=False, unlike={"temperature": 0.0}),
    Spec("cfg", mdlm, _MDLM | {"cfg_scale": 1.0, "steps": 6}, 5, cached=False, unlike={"cfg_scale": 0.0}),
]

# SDAR-MoE and RND1 ---------------------------------------------------------------------------------------------------

_SDAR_SPECS = [
    Spec("static", sdar, SDAR_OPTIONS | {"remasking": "static", "max_new_tokens": 10}, 6),
    Spec("dynamic", sdar, SDAR_OPTIONS | {"max_new_tokens": 10}, 5, unlike={"remasking": "static"}, holds=mixed_steps),
    Spec("block8", sdar, SDAR_OPTIONS | {"block_length": 8, "denoising_steps": 8, "max_new_tokens": 10}, 6,
         unlike={"block_length": 4}),
]
_RND1 = {"max_new_tokens": 10, "steps": 4, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "greedy": True,
         "entropy_bound": None, "bound_order": "confidence"}
_RND1_SPECS = [
    Spec("greedy", rnd1, _RND1, 5, cached=False),
    Spec("greedy_every_position_alone", rnd1, _RND1 | {"steps": 10}, 6, cached=False),
    Spec("greedy_temperature", rnd1, _RND1 | {"temperature": 0.7, "steps": 5}, 6, cached=False),
    Spec("sampled", rnd1, _RND1 | {"greedy": False, "temperature": 0.8, "top_k": 8, "top_p": 0.9}, 6, cached=False,
         unlike={"greedy": True, "top_p": 1.0}, same={"nucleus_floor": 2}),
    Spec("entropy_bound", rnd1, _RND1 | {"entropy_bound": 1.5, "steps": 8}, 6, cached=False,
         unlike={"entropy_bound": None}, same={"bound_order": "entropy"}),
]

CASES = [
    Case("qwen3-moe-f32", _QWEN3_AR, 1701, 64, qwen3_moe_config(_QWEN3_AR, "Qwen3MoeForCausalLM", "qwen3_moe"), _IDS,
         {"causal": causal}, hf_name, _AR_SPECS,
         other_shapes={"norm_topk_prob_false":
                       replace(_QWEN3_AR, experts=replace(_QWEN3_AR.experts, renormalise=False))},
         config_changes={"norm_topk_prob_false": {"norm_topk_prob": False}}),
    Case("qwen3-moe-stacked-f32", _STACKED, 1702, 64, _STACKED_CONFIG, _IDS, {"causal": causal}, hf_name, [],
         pack=stack_experts),
    Case("mixtral-f32", _MIXTRAL, 1703, 64, _MIXTRAL_CONFIG, {"bos_token_id": 0, "eos_token_id": 1},
         {"causal": causal}, mixtral_name, [_AR_SPECS[0]]),
    Case("llada-moe-f32", _LLADA_MOE, 1704, 64, _LLADA_MOE_CONFIG, {"eos_token_id": 1, "pad_token_id": 1},
         {"full": full}, hf_name, _LLADA_MOE_SPECS, mask_id=MASK),
    # With the router's bias (in the weight, too), the first layer dense.
    Case("llada-moe-bias-f32",
         replace(_LLADA_MOE, mlp=16, experts=replace(_LLADA_MOE.experts, count=4, top=2, bias=True, dense=(0,))), 1705,
         64, _LLADA_MOE_CONFIG | {
             "architectures": ["LLaDAMoEModelLM"], "moe_layer_freq": [0, 1], "moe_router_enable_expert_bias": True,
             "num_experts": 4, "num_experts_per_tok": 2, "dense_intermediate_size": 16},
         {"eos_token_id": 1, "pad_token_id": 1}, {"full": full}, hf_name, [], mask_id=MASK),
    Case("sdar-moe-f32", _QWEN3, 1706, 64,
         qwen3_moe_config(_QWEN3, "SDARMoeForCausalLM", "sdar_moe", block_size=4, mask_token_id=MASK), _IDS,
         {"block4": lambda n: block_causal(n, 4)}, hf_name, _SDAR_SPECS, mask_id=MASK, block_key="block_size"),
    Case("rnd1-f32", _QWEN3, 1707, 64, qwen3_moe_config(_QWEN3, "RND1", "rnd1", mask_token_id=MASK), _IDS,
         {"full": full}, hf_name, _RND1_SPECS, mask_id=MASK),
]
CASES.append(in_bfloat16(CASES[0], 1711, ["greedy"]))
