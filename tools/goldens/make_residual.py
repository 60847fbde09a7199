"""Goldens of the residual stream, for the float32 checkpoints that make_goldens.py wrote: its states at every point
of every layer, the logit lens, and logits after a vector was added, states were replaced, an MLP was left out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Callable

import numpy as np
import torch

from catalog import CASES
from checkpoints import Case, stored_name
from make_goldens import forward_prompts
from plain import PlainModel, Trace, Weights, linear, rms_norm, rope_frequencies, wide
from tensorfile import write_safetensors

LENS_TOKENS = 5
Change = Callable[[int, str, torch.Tensor], torch.Tensor]


def read_weights(folder: Path, case: Case) -> Weights:
    """The stored tensors by the names of plain.py: another torch version draws other weights."""
    tensors: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("model*.safetensors")):
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            array = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
            tensors[name] = torch.from_numpy(array.copy())
    shape = case.shape
    parts = ["attn_norm", "q", "k", "v", "o", "mlp_norm", "gate", "up", "down"]
    parts += ["q_bias", "k_bias", "v_bias"] if shape.qkv_bias else []
    parts += ["q_norm", "k_norm"] if shape.qk_norm else []
    names = ["embed", "final_norm"] + ([] if shape.tied else ["head"])
    names += [f"{layer}.{part}" for layer in range(shape.layers) for part in parts]
    return {name: tensors[stored_name(case.family, name)] for name in names}


class StreamModel(PlainModel):
    """The same pass, which shows every point of the residual stream and lets a function change it."""

    @torch.no_grad()
    def stream(self, ids: list[int], change: Change = lambda layer, point, x: x) -> dict[str, torch.Tensor]:
        s, w = self.shape, self.weights
        frequencies = rope_frequencies(s.head_dim, s.theta, s.rope_scaling, wide(self.dtype))
        angles = torch.arange(len(ids), dtype=frequencies.dtype)[:, None] * frequencies[None, :]
        cos, sin = angles.cos(), angles.sin()
        seen: dict[str, torch.Tensor] = {}
        trace = Trace(torch.empty(0), [], [], [])
        x = w["embed"][torch.tensor(ids)]
        for layer in range(s.layers):

            def point(name: str, value: torch.Tensor, layer: int = layer) -> torch.Tensor:
                seen[f"layer_{layer}_{name}"] = change(layer, name, value)
                return seen[f"layer_{layer}_{name}"]

            x = point("pre", x)
            x = x + point("attn_out", self._attention(layer, rms_norm(x, w[f"{layer}.attn_norm"], s.eps), cos, sin, trace))
            x = point("mid", x)
            x = x + point("mlp_out", self._mlp(layer, rms_norm(x, w[f"{layer}.mlp_norm"], s.eps)))
            x = point("post", x)
            seen[f"layer_{layer}_lens"] = torch.softmax(self.head(x), dim=-1)
        seen["logits"] = self.head(x)
        return seen

    def head(self, x: torch.Tensor) -> torch.Tensor:
        normed = rms_norm(x, self.weights["final_norm"], self.shape.eps)
        return linear(normed, self.weights["embed"] if self.shape.tied else self.weights["head"])


def goldens(case: Case, weights: Weights) -> dict[str, torch.Tensor]:
    ids = forward_prompts(case)["A"]
    generator = torch.Generator().manual_seed(case.seed)
    vector = torch.randn(case.shape.hidden, generator=generator)
    states = torch.randn(2, case.shape.hidden, generator=generator)
    last = case.shape.layers - 1

    def steered(layer: int, point: str, x: torch.Tensor) -> torch.Tensor:
        if (layer, point) != (0, "post"):
            return x
        x = x.clone()
        x[[1, 4]] += vector.to(x.dtype)
        return x

    def patched(layer: int, point: str, x: torch.Tensor) -> torch.Tensor:
        if (layer, point) != (last, "pre"):
            return x
        x = x.clone()
        x[[2, 5]] = states.to(x.dtype)
        return x

    def ablated(layer: int, point: str, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x) if (layer, point) == (0, "mlp_out") else x

    out = {"ids": torch.tensor(ids, dtype=torch.int32), "vector": vector, "states": states}
    for precision, dtype in (("f64", torch.float64), ("f32", torch.float32)):
        model = StreamModel(case.shape, weights, dtype)
        plain = model.stream(ids)
        if precision == "f64" and not torch.equal(plain["logits"], model.forward(ids).logits):
            raise SystemExit(f"{case.name}: the pass with points differs from the pass without")
        for name, value in plain.items():
            if name.endswith("_lens"):
                top = value.topk(LENS_TOKENS, dim=-1)
                out[f"{name}_{precision}"] = top.values
                if precision == "f64":
                    out[f"{name}_tokens"] = top.indices.to(torch.int32)
            else:
                out[f"{name}_{precision}"] = value
        for name, change in (("steered", steered), ("patched", patched), ("ablated", ablated)):
            out[f"{name}.logits_{precision}"] = model.stream(ids, change)["logits"]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what make_goldens.py wrote; residual.safetensors is added to cases")
    folder = parser.parse_args().folder
    torch.set_num_threads(1)
    for case in CASES:
        if case.sixteen_bit:
            continue
        tensors = goldens(case, read_weights(folder / case.name, case))
        size = write_safetensors(folder / case.name / "residual.safetensors", tensors)
        print(f"{case.name}: {size} bytes, torch {torch.__version__}")


if __name__ == "__main__":
    main()
