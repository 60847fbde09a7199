"""Which decoding runs are stored for every family, and the search for prompts that make them well defined."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import torch

import decode_ar
import decode_dream
import decode_llada
import philox
from checkpoints import Case
from plain import PlainModel, Weights
from sampling import Decoded, LogitsFunction

MIN_MARGIN = 5e-4
MAX_ATTEMPTS = 500

Options = dict[str, Any]
Decoder = Callable[[LogitsFunction, list[int], Options], Decoded]
Adapter = Callable[[Callable[[Options], Decoded], Options], Options]


@dataclass(frozen=True)
class DecodeSpec:
    """One stored run.

    options      the options that differ from the family's defaults
    mask_prompt  prompt positions that hold MASK
    adapt        chooses ids from an unadapted run, so that an option really bites
    unlike       option values, each of which alone must change the outcome
    needs_left   some generated position must still be MASK at the end
    any_mask     try other mask ids as well
    """

    name: str
    options: Options
    mask_prompt: tuple[int, ...] = ()
    adapt: Adapter | None = None
    unlike: Options = field(default_factory=dict)
    needs_left: bool = False
    any_mask: bool = False


def common_ids(first: str, second: str, off: Options) -> Adapter:
    """Sets option `first` to the most frequent generated id of the run with `off`, and `second` to the next one."""

    def adapt(run: Callable[[Options], Decoded], options: Options) -> Options:
        ranked = [token for token, _ in Counter(run(options | off).ids).most_common()]
        return options | {first: ranked[0], second: (ranked + [0])[1]}

    return adapt


def stop_at_fifth(run: Callable[[Options], Decoded], options: Options) -> Options:
    """Makes the fifth generated id an end token (it may have come earlier, then the run stops there)."""
    return options | {"eos_token_ids": [2, run(options).ids[4]]}


LLADA_DEFAULTS: Options = {
    "max_new_tokens": 16, "steps": 16, "block_length": 16, "algorithm": "low_confidence", "temperature": 0.0,
    "cfg_scale": 0.0, "logits_eos_inf": False, "confidence_eos_eot_inf": False, "eos_token_id": 1, "eot_token_id": 2,
}
_CONFIDENCE_OFF = {"confidence_eos_eot_inf": False}
LLADA_SPECS = [
    DecodeSpec("greedy", {}),
    DecodeSpec("temperature", {"temperature": 0.7}, unlike={"temperature": 0.0}),
    DecodeSpec("greedy_blocks", {"block_length": 4}),
    DecodeSpec("quota_remainder", {"block_length": 8, "steps": 6}),
    DecodeSpec("more_steps_than_tokens", {"max_new_tokens": 8, "block_length": 4, "steps": 12}),
    DecodeSpec("random_order", {"algorithm": "random"}),
    DecodeSpec("random_order_temperature", {"algorithm": "random", "temperature": 0.7, "block_length": 8}),
    DecodeSpec("cfg", {"cfg_scale": 1.5}, unlike={"cfg_scale": 0.0}),
    DecodeSpec("cfg_temperature_blocks", {"cfg_scale": 0.5, "temperature": 0.4, "block_length": 8, "steps": 10}),
    DecodeSpec("logits_eos_inf", {"logits_eos_inf": True}, unlike={"logits_eos_inf": False},
               adapt=common_ids("eos_token_id", "eot_token_id", {"logits_eos_inf": False})),
    DecodeSpec("confidence_eos_eot_inf", {"confidence_eos_eot_inf": True}, unlike=_CONFIDENCE_OFF,
               adapt=common_ids("eos_token_id", "eot_token_id", _CONFIDENCE_OFF)),
    DecodeSpec("confidence_eos_eot_inf_temperature", {"confidence_eos_eot_inf": True, "temperature": 0.8},
               unlike=_CONFIDENCE_OFF, adapt=common_ids("eot_token_id", "eos_token_id", _CONFIDENCE_OFF)),
    DecodeSpec("mask_in_prompt", {"block_length": 8}, mask_prompt=(3,)),
    DecodeSpec("mask_in_prompt_cfg", {"cfg_scale": 1.5}, mask_prompt=(2, 3), unlike={"cfg_scale": 0.0}),
    DecodeSpec("mask_predicted", {"block_length": 4}, needs_left=True, any_mask=True),
]

DREAM_DEFAULTS: Options = {
    "max_new_tokens": 12, "steps": 12, "algorithm": "entropy", "temperature": 0.0, "top_p": None, "top_k": None,
    "alg_temp": None, "eps": 0.001,
}
_CONFIDENCES = ("maskgit_plus", "topk_margin", "entropy")
_SAMPLED = {"temperature": 0.4, "top_p": 0.9}
DREAM_SPECS = [
    DecodeSpec("greedy_entropy", {}),
    DecodeSpec("sampled_entropy", _SAMPLED, unlike={"temperature": 0.0}),
    DecodeSpec("greedy_origin", {"algorithm": "origin"}),
    DecodeSpec("greedy_maskgit_plus", {"algorithm": "maskgit_plus"}),
    DecodeSpec("greedy_topk_margin", {"algorithm": "topk_margin"}),
    DecodeSpec("sampled_origin", _SAMPLED | {"algorithm": "origin"}, unlike={"temperature": 0.0}),
    DecodeSpec("sampled_maskgit_plus", _SAMPLED | {"algorithm": "maskgit_plus"}, unlike={"temperature": 0.0}),
    DecodeSpec("sampled_topk_margin", _SAMPLED | {"algorithm": "topk_margin"}, unlike={"temperature": 0.0}),
    DecodeSpec("top_k", {"temperature": 0.7, "top_k": 5}, unlike={"top_k": None}),
    DecodeSpec("greedy_top_k", {"top_k": 5, "algorithm": "maskgit_plus"}, unlike={"top_k": None}),
    *[DecodeSpec(f"alg_temp_{name}", {"algorithm": name, "alg_temp": 0.5}, unlike={"alg_temp": None})
      for name in _CONFIDENCES],
    DecodeSpec("alg_temp_zero", {"algorithm": "maskgit_plus", "alg_temp": 0.0}),
    DecodeSpec("fewer_steps_entropy", {"max_new_tokens": 16, "steps": 5}),
    DecodeSpec("fewer_steps_origin", {"max_new_tokens": 16, "steps": 5, "algorithm": "origin"}),
    DecodeSpec("more_steps_maskgit_plus", {"max_new_tokens": 8, "steps": 13, "algorithm": "maskgit_plus"}),
    DecodeSpec("more_steps_origin", {"max_new_tokens": 8, "steps": 13, "algorithm": "origin"}),
    DecodeSpec("large_eps", {"max_new_tokens": 16, "steps": 6, "eps": 0.2, "algorithm": "topk_margin"}),
    DecodeSpec("everything", {"temperature": 0.4, "top_p": 0.9, "top_k": 5, "alg_temp": 0.5, "steps": 7},
               unlike={"top_p": None, "top_k": None}),
    DecodeSpec("mask_in_prompt", {"algorithm": "maskgit_plus"}, mask_prompt=(3,)),
    DecodeSpec("mask_predicted", {"algorithm": "maskgit_plus", "steps": 6}, needs_left=True, any_mask=True),
]

AR_DEFAULTS: Options = {
    "max_new_tokens": 14, "temperature": 0.0, "top_k": None, "top_p": None, "repetition_penalty": None,
    "eos_token_ids": [],
}
AR_SPECS = [
    DecodeSpec("greedy", {}),
    DecodeSpec("temperature", {"temperature": 0.8}, unlike={"temperature": 0.0}),
    DecodeSpec("greedy_eos", {}, adapt=stop_at_fifth),
    DecodeSpec("top_k", {"temperature": 1.0, "top_k": 5}, unlike={"top_k": None}),
    DecodeSpec("top_p", {"temperature": 1.0, "top_p": 0.8}, unlike={"top_p": None}),
    DecodeSpec("repetition_penalty", {"repetition_penalty": 1.3}, unlike={"repetition_penalty": None}),
    DecodeSpec("combined", {"temperature": 0.8, "top_k": 5, "top_p": 0.8, "repetition_penalty": 1.3},
               unlike={"top_p": None, "repetition_penalty": None}),
]


def family_plan(family: str) -> tuple[Decoder, Options, list[DecodeSpec]]:
    if family == "llada":
        return decode_llada.decode, LLADA_DEFAULTS, LLADA_SPECS
    if family == "dream":
        return decode_dream.decode, DREAM_DEFAULTS, DREAM_SPECS
    return decode_ar.decode, AR_DEFAULTS, AR_SPECS


def random_prompt(case: Case, length: int, mask_id: int | None, seed: int) -> list[int]:
    """Ids below case.tokens, without the mask id."""
    allowed = [token for token in range(case.tokens) if token != mask_id]
    u = philox.uniform(seed, 0, 0, np.arange(length), 0)
    return [allowed[int(value * len(allowed))] for value in u]


def logits_function(model: PlainModel) -> LogitsFunction:
    return lambda ids: model.forward(ids).logits.numpy()


def find_run(case: Case, number: int, spec: DecodeSpec, float32: LogitsFunction, float64: LogitsFunction) -> Options:
    """Tries prompts and seeds until every decision is clear, the options bite, and float64 decides alike."""
    decode, defaults, _ = family_plan(case.family)
    for attempt in range(MAX_ATTEMPTS):
        # Every other run has a seed above 2^32, so that the second key word is exercised.
        seed = case.seed * 1000 + number * 10 + attempt + (number % 2 << 33)
        mask_id = (case.mask_id or 0) if not spec.any_mask else attempt * 7 % case.tokens
        ids = {} if case.mask_id is None else {"mask_token_id": mask_id}
        prompt = random_prompt(case, 5 + number % 4, ids.get("mask_token_id"), seed)
        for position in spec.mask_prompt:
            prompt[position] = mask_id
        options = defaults | ids | {"seed": seed} | spec.options
        if spec.adapt is not None:
            options = spec.adapt(lambda changed: decode(float32, prompt, changed), options)
        result = decode(float32, prompt, options)
        if result.margins.smallest < MIN_MARGIN or (spec.needs_left and -1 not in result.revealed_at):
            continue
        others = (decode(float32, prompt, options | {key: value}) for key, value in spec.unlike.items())
        if any(result.same_outcome(other) for other in others):
            continue
        if not result.same_outcome(decode(float64, prompt, options)):
            continue
        return {
            "name": spec.name,
            "prompt_ids": prompt,
            "options": options,
            "ids": result.ids,
            "revealed_at": result.revealed_at,
            "min_margin": result.margins.smallest,
            "row": result.row,
            "attempts": attempt + 1,
        }
    raise RuntimeError(f"{case.name}: no well-defined run found for {spec.name}")


def decode_runs(case: Case, weights: Weights) -> list[Options]:
    """All runs of the family for float32 checkpoints, the first two (greedy, sampled) for 16-bit ones."""
    _, _, specs = family_plan(case.family)
    float32 = logits_function(PlainModel(case.shape, weights, torch.float32))
    float64 = logits_function(PlainModel(case.shape, weights, torch.float64))
    chosen = specs[:2] if case.sixteen_bit else specs
    return [find_run(case, number, spec, float32, float64) for number, spec in enumerate(chosen)]
