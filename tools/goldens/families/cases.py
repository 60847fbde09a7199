"""A family's tiny checkpoint: weights, files, forward goldens, and the search for well-defined decoding runs."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch

import philox
from plain import Weights
from tensorfile import write_safetensors

from .body import Body, Shape, Trace, tensor_sizes
from .session import Endless, Options, Session

MIN_MARGIN = 5e-4
MAX_ATTEMPTS = 400
PROMPT_LENGTH = 9

Loop = Callable[[Session], None]
Visibility = Callable[[int], torch.Tensor]


@dataclass(frozen=True)
class Spec:
    """One stored run.

    prompt      prompt length, or the positions that hold MASK beside it
    adapt       chooses option values from an unadapted run, so that an option really bites
    unlike      option values, each of which alone must change the outcome
    same        option values, each of which alone must not change it: readings the page leaves open
    holds       must be true of the finished session
    mask_bites  forbidding MASK must change the outcome; otherwise it must not
    """

    name: str
    loop: Loop
    options: Options
    prompt: int
    mask_prompt: tuple[int, ...] = ()
    adapt: Callable[[Session, Options], Options] | None = None
    unlike: Options = field(default_factory=dict)
    same: Options = field(default_factory=dict)
    holds: Callable[[Session], bool] | None = None
    mask_bites: bool = False
    cached: bool = True


@dataclass(frozen=True)
class Case:
    """`readings`: visibilities under which prompt A is stored. `stored_name` gives the name in the checkpoint.

    other_shapes    further readings: the first visibility, with a body as config.json says after `config_changes`
    block_key       where config.json states a block length
    """

    name: str
    shape: Shape
    seed: int
    tokens: int
    config: dict[str, object]
    generation_config: dict[str, object]
    readings: dict[str, Visibility]
    stored_name: Callable[[str], str]
    specs: list[Spec]
    mask_id: int | None = None
    stored: torch.dtype = torch.float32
    pack: Callable[[Weights, Shape], Weights] | None = None
    other_shapes: dict[str, Shape] = field(default_factory=dict)
    config_changes: dict[str, dict[str, object]] = field(default_factory=dict)
    block_key: str | None = None


def random_weights(case: Case) -> Weights:
    """Peaked attention, well spread logits; MASK is given little weight in the head, as in a trained model."""
    s = case.shape
    generator = torch.Generator().manual_seed(case.seed)
    weights: Weights = {}
    for name, size in tensor_sizes(s).items():
        part = name.rpartition(".")[2]
        numbers = torch.randn(*size, generator=generator, dtype=torch.float64)
        if part in ("q_norm", "k_norm"):
            numbers = 1.6 + 0.3 * numbers
        elif part.endswith("norm"):
            numbers = 1 + 0.1 * numbers
        elif part == "router_bias":
            numbers = (0.15 if s.experts.kind == "sigmoid" else 0.02) * numbers
        elif part.endswith("bias"):
            numbers = 0.5 * numbers
        elif part == "embed" and not s.tied:
            pass
        else:
            numbers = numbers * (3.5 if part in ("embed", "head") else 1.75) / size[1] ** 0.5
        weights[name] = numbers
    if case.mask_id is not None:
        weights["embed" if s.tied else "head"][case.mask_id] *= 0.25
    router = torch.float32 if s.experts is not None and s.experts.kind == "sigmoid" else case.stored
    return {n: t.to(router if "router" in n else case.stored) for n, t in weights.items()}


def hf_name(name: str) -> str:
    """Names of Llama, Qwen2, Qwen3 and Qwen3-MoE."""
    whole = {"embed": "model.embed_tokens.weight", "final_norm": "model.norm.weight", "head": "lm_head.weight"}
    if name in whole:
        return whole[name]
    layer, part = name.split(".", 1)
    parts = {"attn_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm", "router": "mlp.gate",
             "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}
    if part in parts:
        inner = parts[part] + ".weight"
    elif part in ("q", "k", "v", "o"):
        inner = f"self_attn.{part}_proj.weight"
    elif part.endswith("_bias") and part != "router_bias":
        inner = f"self_attn.{part[0]}_proj.bias"
    elif part == "router_bias":
        inner = "mlp.expert_bias"
    elif part.startswith("expert_"):
        expert, _, what = part[len("expert_") :].partition(".")
        inner = f"mlp.experts.{expert}.{what}_proj.weight"
    elif part.startswith("shared."):
        inner = f"mlp.shared_experts.{part[len('shared.'):]}_proj.weight"
    else:
        inner = f"mlp.{part}_proj.weight"
    return f"model.layers.{layer}.{inner}"


def write_checkpoint(folder: Path, case: Case, weights: Weights) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in (("config", case.config), ("generation_config", case.generation_config)):
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2) + "\n")
    tensors = {case.stored_name(name): tensor for name, tensor in weights.items()}
    if case.config_changes:
        (folder / "readings.json").write_text(json.dumps(case.config_changes, indent=2) + "\n")
    if case.pack is not None:
        tensors = case.pack(tensors, case.shape)
    write_safetensors(folder / "model.safetensors", {n: t.contiguous() for n, t in tensors.items()})


def in_bfloat16(case: Case, seed: int, runs: list[str]) -> Case:
    """The case as a bf16 file: the first reading and the named runs only."""
    key = "dtype" if "dtype" in case.config else "torch_dtype"
    first = next(iter(case.readings))
    return replace(
        case, name=case.name.replace("-f32", "-bf16"), seed=seed, stored=torch.bfloat16,
        config=case.config | {key: "bfloat16"}, readings={first: case.readings[first]},
        other_shapes={}, config_changes={}, specs=[spec for spec in case.specs if spec.name in runs],
    )


def random_prompt(case: Case, length: int, mask_id: int | None, seed: int) -> list[int]:
    allowed = [token for token in range(case.tokens) if token not in (mask_id, 0, 1, 2)]
    u = philox.uniform(seed, 0, 0, np.arange(length), 0)
    return [allowed[int(value * len(allowed))] for value in u]


def forward_goldens(folder: Path, case: Case, weights: Weights) -> None:
    """goldens.safetensors: prompt A under every reading. Other seeds are tried until every router choice is clear."""
    for attempt in range(MAX_ATTEMPTS):
        ids = random_prompt(case, PROMPT_LENGTH, case.mask_id, case.seed * 100 + attempt)
        if case.mask_id is not None:
            ids = [case.mask_id if p % 3 == 2 or p > 6 else token for p, token in enumerate(ids)]
        exact = {name: forward(case, weights, torch.float64, name, ids) for name in readings_of(case)}
        if min(trace.router_margin for trace in exact.values()) >= 1e-3 and same_experts(case, weights, exact, ids):
            break
    else:
        raise RuntimeError(f"{case.name}: no prompt with clear router choices")
    tensors: dict[str, torch.Tensor] = {"A.ids": torch.tensor(ids, dtype=torch.int32)}
    for reading, double in exact.items():
        single = forward(case, weights, torch.float32, reading, ids)
        for precision, trace in (("f64", double), ("f32", single)):
            tensors[f"A.{reading}.logits_{precision}"] = trace.logits
            if reading in case.other_shapes:
                continue
            for layer, attention in enumerate(trace.attention):
                tensors[f"A.{reading}.layer_{layer}_attention_{precision}"] = attention
                routing = trace.routing[layer]
                if routing is not None:
                    tensors[f"A.{reading}.layer_{layer}_router_weights_{precision}"] = routing.weights
                    tensors[f"A.{reading}.layer_{layer}_router_scores_{precision}"] = routing.scores
                    tensors[f"A.{reading}.layer_{layer}_router_experts"] = routing.experts.to(torch.int32)
        if case.stored != torch.float32:
            narrow = forward(case, weights, case.stored, reading, ids)
            tensors[f"A.{reading}.logits_plain16"] = narrow.logits.float()
    write_safetensors(folder / "goldens.safetensors", {n: t.contiguous() for n, t in tensors.items()})


def same_experts(case: Case, weights: Weights, exact: dict[str, Trace], ids: list[int]) -> bool:
    """A plain run in the stored type chooses the same experts."""
    for reading, trace in exact.items():
        plain = forward(case, weights, case.stored, reading, ids)
        for ours, theirs in zip(trace.routing, plain.routing):
            if ours is not None and not torch.equal(ours.experts.sort(-1)[0], theirs.experts.sort(-1)[0]):
                return False
    return True


def readings_of(case: Case) -> list[str]:
    return [*case.readings, *(name for name in case.other_shapes if name not in case.readings)]


def forward(case: Case, weights: Weights, dtype: torch.dtype, reading: str, ids: list[int]) -> Trace:
    shape = case.other_shapes.get(reading, case.shape)
    visible = case.readings.get(reading) or next(iter(case.readings.values()))
    return Body(shape, weights, dtype).forward(ids, visible(len(ids)))


def frequent_token(option: str, listed: bool = False, rank: int = 0) -> Callable[[Session, Options], Options]:
    """Sets `option` to a generated id of the unadapted run, most frequent first."""

    def adapt(session: Session, options: Options) -> Options:
        generated = session.x[session.prompt_length :]
        ranked = [t for t, _ in Counter(generated).most_common() if t != session.mask]
        token = ranked[min(rank, len(ranked) - 1)]
        return options | {option: [token] if listed else token}

    return adapt


def token_at(option: str, position: int, listed: bool = True) -> Callable[[Session, Options], Options]:
    """Sets `option` to the id that the unadapted run generated at `position` behind the prompt."""

    def adapt(session: Session, options: Options) -> Options:
        if session.prompt_length + position >= len(session.x):
            raise Unsuited
        token = session.x[session.prompt_length + position]
        return options | {option: [token] if listed else token}

    return adapt


class Unsuited(Exception):
    """Another prompt must be tried."""


def find_run(case: Case, number: int, spec: Spec, single: Body, double: Body) -> dict[str, Any]:
    """Tries prompts and seeds until every decision is clear, the options bite, and all variants decide alike."""
    for attempt in range(MAX_ATTEMPTS):
        # Every other run has a seed above 2^32, so that the second key word is exercised.
        seed = case.seed * 1000 + number * 10 + attempt + (number % 2 << 33)
        ids = {} if case.mask_id is None else {"mask_token_id": case.mask_id}
        if spec.mask_bites:
            ids["mask_token_id"] = attempt * 7 % case.tokens
        prompt = random_prompt(case, spec.prompt, ids.get("mask_token_id"), seed)
        for position in spec.mask_prompt:
            prompt[position] = ids["mask_token_id"]
        options = ids | {"seed": seed} | spec.options

        def run(body: Body, changed: Options, cached: bool = False, forbid: str = "logits") -> Session:
            session = Session(body, prompt, changed, cached, forbid)
            spec.loop(session)
            return session

        try:
            if spec.adapt is not None:
                options = spec.adapt(run(double, options), options)
            result = run(double, options)
            if result.margins.smallest < MIN_MARGIN or (spec.holds and not spec.holds(result)):
                continue
            if any(result.same_outcome(run(double, options | {k: v})) for k, v in spec.unlike.items()):
                continue
            if not all(result.same_outcome(run(double, options | {k: v})) for k, v in spec.same.items()):
                continue
            if not result.same_outcome(run(single, options)):
                continue
            if case.mask_id is not None:
                if not result.same_outcome(run(double, options, forbid="choice")):
                    continue
                if result.same_outcome(run(double, options, forbid="off")) == spec.mask_bites:
                    continue
        except (Endless, Unsuited):
            continue
        forwards = {"recomputed": result.forwards}
        if spec.cached:
            kept = run(double, options, cached=True)
            if not result.same_outcome(kept):
                raise RuntimeError(f"{case.name} {spec.name}: cached and recomputed runs differ")
            forwards["cached"] = kept.forwards
        last = {position: step for step, position, _ in sorted(result.reveals + result.seeds)}
        changed = {}
        if case.block_key is not None and options.get("block_length") not in (None, case.config[case.block_key]):
            changed = {"config": {case.block_key: options["block_length"]}}
        return {
            "name": spec.name,
            "loop": spec.loop.__name__,
            **changed,
            "prompt_ids": prompt,
            "options": options,
            "ids": result.ids,
            "row": result.x,
            "revealed_at": [last.get(p, -1) for p in range(len(prompt), len(result.x))],
            "reveals": result.reveals,
            "seeds": result.seeds,
            "hidden_again": result.hidden,
            "denoise_forwards": result.denoised,
            "forwards": forwards,
            "min_margin": result.margins.smallest,
            "attempts": attempt + 1,
        }
    raise RuntimeError(f"{case.name}: no well-defined run found for {spec.name}")


def make_case(out: Path, case: Case) -> dict[str, Any]:
    folder = out / case.name
    weights = random_weights(case)
    write_checkpoint(folder, case, weights)
    forward_goldens(folder, case, weights)
    single, double = (Body(case.shape, weights, dtype) for dtype in (torch.float32, torch.float64))
    runs = [find_run(case, number, spec, single, double) for number, spec in enumerate(case.specs)]
    if runs:
        lines = ",\n".join(json.dumps(run) for run in runs)
        packed = gzip.compress(f"[\n{lines}\n]\n".encode(), mtime=0)
        (folder / "decode.json.gz").write_bytes(packed)
    size = sum(path.stat().st_size for path in folder.iterdir())
    smallest = min((run["min_margin"] for run in runs), default=None)
    return {"bytes": size, "runs": len(runs), "smallest_margin": smallest}
