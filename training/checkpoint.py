"""Checkpoints in the ordinary Hugging Face layouts: config.json and model.safetensors of LLaDA and Llama."""

import json

import numpy as np
import torch

NORM_EPS = 1e-5
CONTEXT = 2048  # what the config promises; training rows hold documents of at most LONGEST tokens

LLADA = {"embedding": "model.transformer.wte", "norm": "model.transformer.ln_f", "head": "model.transformer.ff_out",
         "block": "model.transformer.blocks.{}.", "attention_norm": "attn_norm", "mlp_norm": "ff_norm",
         "q": "q_proj", "k": "k_proj", "v": "v_proj", "attention_out": "attn_out", "gate": "ff_proj",
         "up": "up_proj", "down": "ff_out"}
LLAMA = {"embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head", "block": "model.layers.{}.",
         "attention_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm", "q": "self_attn.q_proj",
         "k": "self_attn.k_proj", "v": "self_attn.v_proj", "attention_out": "self_attn.o_proj",
         "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}


def published(model):
    """The weights under the names of the family, without copying: name -> tensor."""
    names = LLAMA if model.shape["objective"] == "next" else LLADA
    tensors = {names[part] + ".weight": getattr(model, part).weight for part in ("embedding", "norm", "head")}
    for i, block in enumerate(model.blocks):
        parts = {part: getattr(block, part).weight for part in ("attention_norm", "mlp_norm", "attention_out", "down")}
        parts.update(zip("qkv", block.qkv.weight.chunk(3)))
        parts.update(zip(("gate", "up"), block.gate_up.weight.chunk(2)))
        tensors.update({names["block"].format(i) + names[part] + ".weight": w for part, w in parts.items()})
    return tensors


def config_of(shape, vocabulary):
    """The layout follows the objective: Llama's for the next token, LLaDA's for masked tokens."""
    mask = {"attention_mask_kind": shape["mask"]}
    if shape["objective"] == "next":
        return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": shape["width"],
                "num_hidden_layers": shape["layers"], "num_attention_heads": shape["heads"],
                "num_key_value_heads": shape["heads"], "intermediate_size": shape["mlp"],
                "vocab_size": vocabulary.size, "max_position_embeddings": CONTEXT, "rms_norm_eps": NORM_EPS,
                "rope_theta": shape["rope_theta"], "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
                "tie_word_embeddings": False, "bos_token_id": vocabulary.begin, "eos_token_id": vocabulary.end,
                "pad_token_id": vocabulary.end, "torch_dtype": "bfloat16", **mask}
    return {"architectures": ["LLaDAModelLM"], "model_type": "llada", "d_model": shape["width"],
            "n_layers": shape["layers"], "n_heads": shape["heads"], "n_kv_heads": shape["heads"],
            "mlp_hidden_size": shape["mlp"], "vocab_size": vocabulary.size, "embedding_size": vocabulary.size,
            "max_sequence_length": CONTEXT, "rope": True, "rope_theta": shape["rope_theta"],
            "rope_full_precision": True, "alibi": False, "layer_norm_type": "rms", "rms_norm_eps": NORM_EPS,
            "layer_norm_with_affine": True, "bias_for_layer_norm": False, "attention_layer_norm": False,
            "activation_type": "silu", "block_type": "llama", "block_group_size": 1, "include_bias": False,
            "include_qkv_bias": False, "weight_tying": False, "scale_logits": False, "input_emb_norm": False,
            "flash_attention": False, "use_cache": False, "bos_token_id": vocabulary.begin,
            "eos_token_id": vocabulary.end, "pad_token_id": vocabulary.end, "mask_token_id": vocabulary.mask, **mask}


def save(model, folder, vocabulary):
    """config.json, and model.safetensors in bfloat16: an 8-byte header size, a JSON header, the bytes."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, weight in published(model).items():
        part = weight.detach().to(torch.bfloat16).cpu().contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(weight.shape),
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    partial = folder / "model.safetensors.partial"
    partial.write_bytes(len(text).to_bytes(8, "little") + text + data)
    partial.rename(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config_of(model.shape, vocabulary), indent=2) + "\n")


def shape_of(config):
    """The shape that config_of took."""
    llama = "hidden_size" in config
    key = lambda one, other: config[one if llama else other]
    return {"objective": "next" if llama else "masked",
            "mask": config.get("attention_mask_kind", "causal" if llama else "full"),
            "width": key("hidden_size", "d_model"), "layers": key("num_hidden_layers", "n_layers"),
            "heads": key("num_attention_heads", "n_heads"), "mlp": key("intermediate_size", "mlp_hidden_size"),
            "rope_theta": config["rope_theta"]}


def load(model, folder):
    stored = (folder / "model.safetensors").read_bytes()
    begin = 8 + int.from_bytes(stored[:8], "little")
    header = json.loads(stored[8:begin])
    with torch.no_grad():
        for name, weight in published(model).items():
            first, last = header[name]["data_offsets"]
            halves = np.frombuffer(stored[begin + first:begin + last], np.int16).copy()
            weight.copy_(torch.from_numpy(halves).view(torch.bfloat16).view(weight.shape))
