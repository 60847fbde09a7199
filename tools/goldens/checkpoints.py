"""Random weights and the on-disk checkpoint layout of every family."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from plain import ModelShape, Weights
from tensorfile import write_safetensors

ARCHITECTURES = {
    "llada": "LLaDAModelLM",
    "dream": "DreamModel",
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}

_TYPE_WORDS = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}

_LLADA_NAMES = {
    "embed": "model.transformer.wte.weight",
    "final_norm": "model.transformer.ln_f.weight",
    "head": "model.transformer.ff_out.weight",
    "attn_norm": "attn_norm.weight",
    "mlp_norm": "ff_norm.weight",
    "q": "q_proj.weight",
    "k": "k_proj.weight",
    "v": "v_proj.weight",
    "o": "attn_out.weight",
    "gate": "ff_proj.weight",
    "up": "up_proj.weight",
    "down": "ff_out.weight",
}

_HF_NAMES = {
    "embed": "model.embed_tokens.weight",
    "final_norm": "model.norm.weight",
    "head": "lm_head.weight",
    "attn_norm": "input_layernorm.weight",
    "mlp_norm": "post_attention_layernorm.weight",
    "q": "self_attn.q_proj.weight",
    "k": "self_attn.k_proj.weight",
    "v": "self_attn.v_proj.weight",
    "q_bias": "self_attn.q_proj.bias",
    "k_bias": "self_attn.k_proj.bias",
    "v_bias": "self_attn.v_proj.bias",
    "q_norm": "self_attn.q_norm.weight",
    "k_norm": "self_attn.k_norm.weight",
    "o": "self_attn.o_proj.weight",
    "gate": "mlp.gate_proj.weight",
    "up": "mlp.up_proj.weight",
    "down": "mlp.down_proj.weight",
}


@dataclass(frozen=True)
class Case:
    """One tiny checkpoint. `config_extra` overrides or adds config.json keys; a value of `...` removes the key."""

    name: str
    family: str
    shape: ModelShape
    stored: torch.dtype
    seed: int
    tokens: int
    mask_id: int | None = None
    shards: int = 1
    config_extra: dict[str, object] | None = None

    @property
    def sixteen_bit(self) -> bool:
        return self.stored != torch.float32


def stored_name(family: str, name: str) -> str:
    names = _LLADA_NAMES if family == "llada" else _HF_NAMES
    layer, _, part = name.rpartition(".")
    if not layer:
        return names[part]
    prefix = "model.transformer.blocks" if family == "llada" else "model.layers"
    return f"{prefix}.{layer}.{names[part]}"


def random_weights(case: Case) -> Weights:
    """Weights large enough that attention is far from uniform and the logits are well spread."""
    s = case.shape
    generator = torch.Generator().manual_seed(case.seed)
    weights: Weights = {}

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=generator, dtype=torch.float64)

    def matrix(name: str, rows: int, columns: int, gain: float) -> None:
        weights[name] = (normal(rows, columns) * gain / columns**0.5).to(case.stored)

    def norm(name: str, size: int) -> None:
        weights[name] = (1 + 0.1 * normal(size)).to(case.stored)

    matrix("embed", s.vocab, s.hidden, 1.75 if s.tied else s.hidden**0.5)
    for layer in range(s.layers):
        norm(f"{layer}.attn_norm", s.hidden)
        for part, heads in (("q", s.heads), ("k", s.kv_heads), ("v", s.kv_heads)):
            matrix(f"{layer}.{part}", heads * s.head_dim, s.hidden, 1.75)
            if s.qkv_bias:
                weights[f"{layer}.{part}_bias"] = (0.5 * normal(heads * s.head_dim)).to(case.stored)
        if s.qk_norm:
            weights[f"{layer}.q_norm"] = (1.6 + 0.3 * normal(s.head_dim)).to(case.stored)
            weights[f"{layer}.k_norm"] = (1.6 + 0.3 * normal(s.head_dim)).to(case.stored)
        matrix(f"{layer}.o", s.hidden, s.heads * s.head_dim, 1.75)
        norm(f"{layer}.mlp_norm", s.hidden)
        matrix(f"{layer}.gate", s.mlp, s.hidden, 1.75)
        matrix(f"{layer}.up", s.mlp, s.hidden, 1.75)
        matrix(f"{layer}.down", s.hidden, s.mlp, 1.75)
    norm("final_norm", s.hidden)
    if not s.tied:
        matrix("head", s.vocab, s.hidden, 1.75)
    return weights


def llada_config(case: Case) -> dict[str, object]:
    s = case.shape
    return {
        "architectures": [ARCHITECTURES["llada"]],
        "model_type": "llada",
        "d_model": s.hidden,
        "n_layers": s.layers,
        "n_heads": s.heads,
        "n_kv_heads": s.kv_heads,
        "mlp_hidden_size": s.mlp,
        "mlp_ratio": 4,
        "vocab_size": s.vocab,
        "embedding_size": s.vocab,
        "max_sequence_length": 512,
        "rope": True,
        "rope_theta": s.theta,
        "rope_full_precision": True,
        "alibi": False,
        "layer_norm_type": "rms",
        "rms_norm_eps": s.eps,
        "layer_norm_with_affine": True,
        "bias_for_layer_norm": False,
        "attention_layer_norm": False,
        "attention_layer_norm_with_affine": True,
        "activation_type": "silu",
        "block_type": "llama",
        "block_group_size": 1,
        "include_bias": False,
        "include_qkv_bias": False,
        "weight_tying": False,
        "scale_logits": False,
        "input_emb_norm": False,
        "multi_query_attention": None,
        "mask_token_id": case.mask_id,
        "eos_token_id": 1,
        "pad_token_id": 1,
        "flash_attention": False,
        "use_cache": False,
        "attention_dropout": 0.0,
        "embedding_dropout": 0.0,
        "residual_dropout": 0.0,
        "precision": "amp_bf16",
        "init_device": "meta",
        "init_fn": "mitchell",
        "init_std": 0.02,
        "init_cutoff_factor": None,
        "transformers_version": "4.46.3",
    }


def hf_config(case: Case) -> dict[str, object]:
    """config.json of Dream, Llama, Qwen2 and Qwen3, with the older keys rope_theta and rope_scaling."""
    s = case.shape
    config: dict[str, object] = {
        "architectures": [ARCHITECTURES[case.family]],
        "attention_dropout": 0.0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "hidden_act": "silu",
        "hidden_size": s.hidden,
        "initializer_range": 0.02,
        "intermediate_size": s.mlp,
        "max_position_embeddings": 512,
        "model_type": "Dream" if case.family == "dream" else case.family,
        "num_attention_heads": s.heads,
        "num_hidden_layers": s.layers,
        "num_key_value_heads": s.kv_heads,
        "rms_norm_eps": s.eps,
        "rope_theta": s.theta,
        "tie_word_embeddings": s.tied,
        "torch_dtype": _TYPE_WORDS[case.stored],
        "use_cache": True,
        "vocab_size": s.vocab,
    }
    if case.family != "qwen2":
        config["rope_scaling"] = scaling_entry(s)
    if case.family == "llama":
        config |= {"attention_bias": False, "mlp_bias": False, "pretraining_tp": 1, "head_dim": s.head_dim}
    else:
        config |= {"sliding_window": None, "use_sliding_window": False, "max_window_layers": s.layers}
    if case.family == "dream":
        config |= {"mask_token_id": case.mask_id, "pad_token_id": 1, "use_mrope": False}
    if case.family == "qwen3":
        config |= {"head_dim": s.head_dim, "attention_bias": False}
    return config


def scaling_entry(shape: ModelShape) -> dict[str, object] | None:
    scaling = shape.rope_scaling
    if scaling is None:
        return None
    return {
        "factor": scaling.factor,
        "low_freq_factor": scaling.low_freq_factor,
        "high_freq_factor": scaling.high_freq_factor,
        "original_max_position_embeddings": scaling.original_length,
        "rope_type": "llama3",
    }


def generation_config(case: Case) -> dict[str, object]:
    ids: dict[str, object] = {"bos_token_id": 0, "eos_token_id": 1}
    if case.family == "llada":
        return ids
    if case.family == "dream":
        return ids | {
            "alg": "origin",
            "alg_temp": None,
            "eps": 0.001,
            "mask_token_id": None,
            "pad_token_id": 1,
            "steps": 512,
            "temperature": 0.0,
            "top_k": None,
            "top_p": None,
        }
    if case.family == "llama":
        return ids | {"do_sample": True, "temperature": 0.6, "top_p": 0.9}
    sampling = {"do_sample": True, "eos_token_id": [2, 1], "pad_token_id": 1, "top_k": 20}
    if case.family == "qwen2":
        return ids | sampling | {"temperature": 0.7, "top_p": 0.8, "repetition_penalty": 1.05}
    return ids | sampling | {"temperature": 0.6, "top_p": 0.95}


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_checkpoint(folder: Path, case: Case, weights: Weights) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = llada_config(case) if case.family == "llada" else hf_config(case)
    for key, value in (case.config_extra or {}).items():
        if value is ...:
            del config[key]
        else:
            config[key] = value
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", generation_config(case))
    tensors = {stored_name(case.family, name): tensor for name, tensor in weights.items()}
    if case.shards == 1:
        write_safetensors(folder / "model.safetensors", tensors)
        return
    weight_map: dict[str, str] = {}
    total = 0
    for shard in range(case.shards):  # dealt out in turn, so that every layer is scattered over the shards
        file_name = f"model-{shard + 1:05d}-of-{case.shards:05d}.safetensors"
        names = list(tensors)[shard :: case.shards]
        total += write_safetensors(folder / file_name, {name: tensors[name] for name in names})
        weight_map |= dict.fromkeys(names, file_name)
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    write_json(folder / "model.safetensors.index.json", index)
