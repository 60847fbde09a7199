"""Creates tiny random checkpoints of every family and golden results for them. See README.md."""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from catalog import CASES
from checkpoints import Case, random_weights, write_checkpoint, write_json
from decode_cases import decode_runs, random_prompt
from plain import PlainModel, Trace, Weights
from selfcheck import run_self_checks
from tensorfile import write_safetensors

PROMPT_LENGTHS = {"A": 7, "B": 37}
SIZE_LIMIT = 4_000_000

OUT_README = """# Goldens

Tiny random checkpoints (one folder per case, Hugging Face layout) with golden results, made by

    {command}

with {versions}.

The files are described in `tools/goldens/README.md` of the repository; `summary.json` holds the versions and the
differences measured while making them. Do not edit: make them anew instead.
"""


def forward_prompts(case: Case) -> dict[str, list[int]]:
    """Prompts A and B; for the diffusion families about a third of the ids are MASK."""
    prompts = {}
    for number, (name, length) in enumerate(PROMPT_LENGTHS.items()):
        ids = random_prompt(case, length, case.mask_id, case.seed * 100 + number)
        if case.mask_id is not None:
            ids = [case.mask_id if p % 3 == 2 or p > 0.8 * length else token for p, token in enumerate(ids)]
        prompts[name] = ids
    return prompts


def trace_tensors(name: str, trace: Trace, precision: str) -> dict[str, torch.Tensor]:
    """Logits of every position; the arrays of all layers for prompt A, of the last layer for prompt B."""
    tensors = {f"{name}.logits_{precision}": trace.logits}
    layers = range(len(trace.attention))
    for layer in layers if name == "A" else layers[-1:]:
        tensors[f"{name}.layer_{layer}_attention_{precision}"] = trace.attention[layer]
        tensors[f"{name}.layer_{layer}_query_states_{precision}"] = trace.queries[layer]
        tensors[f"{name}.layer_{layer}_key_states_{precision}"] = trace.keys[layer]
    return tensors


def forward_goldens(folder: Path, case: Case, weights: Weights, use_transformers: bool) -> dict[str, Any]:
    """Writes goldens.safetensors; returns the measured differences."""
    reference = None
    if use_transformers:
        import crosscheck

        if case.family in crosscheck.CHECKED_FAMILIES:
            reference = crosscheck.load_reference(folder, case, weights)
    tensors: dict[str, torch.Tensor] = {}
    report: dict[str, Any] = {"logits_f32_from": "plain" if reference is None else "transformers"}
    for name, ids in forward_prompts(case).items():
        double = PlainModel(case.shape, weights, torch.float64).forward(ids)
        single = PlainModel(case.shape, weights, torch.float32).forward(ids)
        differences = {
            "largest_logit": double.logits.abs().max().item(),
            "mean_top_attention": torch.stack(double.attention)[:, :, 2:].max(-1).values.mean().item(),
            "f32_minus_f64": (single.logits - double.logits).abs().max().item(),
        }
        tensors[f"{name}.ids"] = torch.tensor(ids, dtype=torch.int32)
        tensors |= trace_tensors(name, double, "f64") | trace_tensors(name, single, "f32")
        if reference is not None:
            check = crosscheck.cross_check(reference, ids, single)
            differences["transformers_logits_relative"] = check.logits_difference
            differences["transformers_attention"] = check.attention_difference
            if not check.passed:
                raise SystemExit(f"CROSS CHECK FAILED: {case.name} prompt {name}: {differences}")
            tensors[f"{name}.logits_f32"] = check.logits
        if case.sixteen_bit:
            logits16 = PlainModel(case.shape, weights, case.stored).forward(ids).logits.float()
            differences["plain16_minus_f64"] = (logits16 - double.logits).abs().max().item()
            tensors[f"{name}.logits_plain16"] = logits16
        report[name] = differences
    write_safetensors(folder / "goldens.safetensors", {name: tensor.contiguous() for name, tensor in tensors.items()})
    return report


def write_runs(folder: Path, runs: list[dict[str, Any]]) -> None:
    """decode.json.gz with one run per line."""
    lines = ",\n".join(json.dumps(run) for run in runs)
    (folder / "decode.json.gz").write_bytes(gzip.compress(f"[\n{lines}\n]\n".encode(), mtime=0))


def versions(use_transformers: bool) -> dict[str, str]:
    found = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "transformers": "not used",
    }
    if use_transformers:
        import transformers

        found["transformers"] = transformers.__version__
    return found


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to create; case folders in it are replaced")
    parser.add_argument("--no-transformers", action="store_true", help="skip the cross-check with transformers")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    use_transformers = not arguments.no_transformers
    torch.set_num_threads(1)
    run_self_checks()
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = versions(use_transformers)
    summary: dict[str, Any] = {"versions": found, "cases": {}}
    weights = {case.name: random_weights(case) for case in CASES}
    for case in CASES:  # all cross-checks come before the slower decoding runs
        folder = arguments.out / case.name
        shutil.rmtree(folder, ignore_errors=True)
        write_checkpoint(folder, case, weights[case.name])
        summary["cases"][case.name] = forward_goldens(folder, case, weights[case.name], use_transformers)
        print(case.name, json.dumps(summary["cases"][case.name]), flush=True)
    for case in CASES:
        start = time.monotonic()
        runs = decode_runs(case, weights[case.name])
        write_runs(arguments.out / case.name, runs)
        smallest = min(run["min_margin"] for run in runs)
        summary["cases"][case.name]["decode"] = {"runs": len(runs), "smallest_margin": smallest}
        print(f"{case.name}: {len(runs)} runs, margin {smallest:.1e}, {time.monotonic() - start:.1f} s", flush=True)
    write_json(arguments.out / "summary.json", summary)
    command = " ".join(["python3", *sys.argv])
    text = OUT_README.format(command=command, versions=", ".join(f"{key} {value}" for key, value in found.items()))
    (arguments.out / "README.md").write_text(text)
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{size} bytes in {arguments.out}")
    if size > SIZE_LIMIT:
        raise SystemExit(f"the goldens exceed {SIZE_LIMIT} bytes")


if __name__ == "__main__":
    main()
