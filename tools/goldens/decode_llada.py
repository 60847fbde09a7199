"""LLaDA's decoding with the draws of docs/randomness.md."""

from __future__ import annotations

from typing import Any

import numpy as np

import philox
from sampling import Decoded, LogitsFunction, Margins, argmax, softmax, top_positions


def step_quotas(masks: int, steps: int) -> list[int]:
    return [masks // steps + (1 if i < masks % steps else 0) for i in range(steps)]


def guided_logits(model: LogitsFunction, row: np.ndarray, is_prompt: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    logits = model(row.tolist())
    scale = options["cfg_scale"]
    if scale > 0:
        without_prompt = model(np.where(is_prompt, options["mask_token_id"], row).tolist())
        logits = without_prompt + logits.dtype.type(scale + 1) * (logits - without_prompt)
    if options["logits_eos_inf"]:
        logits[:, options["eos_token_id"]] = -np.inf
    return logits.astype(np.float64)


def confidence_logits(logits: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """At temperature 0 confidence_eos_eot_inf removes EOS and EoT from the softmax, otherwise EoT only."""
    if not options["confidence_eos_eot_inf"]:
        return logits
    logits = logits.copy()
    logits[:, options["eot_token_id"]] = -np.inf
    if options["temperature"] == 0:
        logits[:, options["eos_token_id"]] = -np.inf
    return logits


def decode(model: LogitsFunction, prompt: list[int], options: dict[str, Any]) -> Decoded:
    mask_id, seed, temperature = options["mask_token_id"], options["seed"], options["temperature"]
    prompt_length, length, block = len(prompt), options["max_new_tokens"], options["block_length"]
    row = np.array(prompt + [mask_id] * length)
    is_prompt = row != mask_id
    revealed_at = np.full(len(row), -1)
    blocks = length // block
    steps_per_block = options["steps"] // blocks
    margins = Margins()
    step = 0
    for block_start in range(prompt_length, prompt_length + length, block):
        block_end = block_start + block
        masks = int((row[block_start:block_end] == mask_id).sum())
        for quota in step_quotas(masks, steps_per_block):
            logits = guided_logits(model, row, is_prompt, options)
            clean = softmax(confidence_logits(logits, options))
            confidence = np.full(len(row), -np.inf)
            exact = np.zeros(len(row), bool)
            proposal = row.copy()
            for p in np.flatnonzero(row[:block_end] == mask_id):
                scores = logits[p]
                if temperature > 0:
                    tokens = np.arange(len(scores))
                    scores = scores + temperature * philox.gumbel(seed, philox.TOKEN_NOISE, step, p, tokens)
                proposal[p] = argmax(scores, margins)
                if options["algorithm"] == "random":
                    confidence[p] = philox.uniform(seed, philox.RANDOM_ORDER, step, p, 0)
                else:
                    confidence[p] = clean[p, proposal[p]]
                    exact[p] = confidence[p] == 0
            relative = options["algorithm"] == "low_confidence"
            for p in top_positions(confidence, exact, quota, relative, margins):
                row[p] = proposal[p]
                if row[p] != mask_id:
                    revealed_at[p] = step
            step += 1
    return Decoded(row.tolist(), revealed_at[prompt_length:].tolist(), margins, prompt_length)
