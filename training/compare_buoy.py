#!/usr/bin/env python3
"""Compares a trained model in PyTorch and in Buoy: compare_buoy.py MODEL --buoy PROGRAM --world FOLDER [--items 50]

Logits of a few prompts (the diffusion model also with masked slots), and greedy answers to the first questions of each
set: how many are right, and whether both programs gave the very same text. Prints JSON lines. Runs on the CPU.
With --no-pytorch only Buoy's answers are scored, with 95% intervals.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch

import train_pair
from checkpoint import shape_of
from world_data import SLOTS, Vocabulary, prompt_text

SETS = ("asked-closed", "read-only-closed", "unknown-closed", "unknown-1", "unknown-10", "unknown-10-similar-name",
        "unknown-two-hop-10")


def load_model(folder, vocabulary):
    config = json.loads((folder / "config.json").read_text())
    model = train_pair.Body(shape_of(config), vocabulary.size)
    train_pair.load(model, folder)
    return model.eval()


def logits_of(program, folder, ids):
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "pass.npz"
        subprocess.run([program, "forward", "--model", folder, "--ids", ",".join(map(str, ids)), "--out", out],
                       check=True, capture_output=True)
        return torch.from_numpy(np.load(out)["logits"])


def compare_logits(program, folder, model, vocabulary, world):
    worst, same, positions, scale = 0.0, 0, 0, 0.0
    for name in ("asked-closed", "unknown-1", "unknown-5", "unknown-10"):
        item = json.loads((world / "sets" / f"{name}.jsonl").read_text().splitlines()[0])
        ids = [vocabulary.begin] + vocabulary.encode(prompt_text(item))
        if model.shape["objective"] == "masked":
            ids += [vocabulary.mask] * SLOTS
        tokens = torch.tensor(ids)
        with torch.no_grad():
            ours = model(tokens, torch.arange(len(ids)), torch.tensor([0, len(ids)], dtype=torch.int32))
        theirs = logits_of(program, folder, ids)
        worst = max(worst, (ours - theirs).abs().max().item())
        scale = max(scale, ours.abs().max().item())
        same += (ours.argmax(-1) == theirs.argmax(-1)).sum().item()
        positions += len(ids)
    return {"largest_logit_difference": worst, "largest_logit": scale, "same_argmax": same, "positions": positions}


def answer_of(program, folder, prompt):
    out = subprocess.run([program, "generate", "--model", folder, "--prompt", prompt, "--max-new-tokens", str(SLOTS),
                          "--json"], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["text"].strip()


def compare_answers(program, folder, model, vocabulary, path, count):
    items = [json.loads(line) for line in path.read_text().splitlines()[:count]]
    prompts = [[vocabulary.begin] + vocabulary.encode(prompt_text(item)) for item in items]
    right = {"buoy": 0, "pytorch": 0, "same": 0}
    for item, prompt in zip(items, prompts):
        ids = train_pair.decode(model, [prompt], vocabulary, torch.device("cpu"))[0]
        torch_answer = vocabulary.decode(ids[:ids.index(vocabulary.end)] if vocabulary.end in ids else ids).strip()
        buoy_answer = answer_of(program, folder, prompt_text(item))
        right["buoy"] += buoy_answer in item["answers"]
        right["pytorch"] += torch_answer in item["answers"]
        right["same"] += buoy_answer == torch_answer
    return {"set": path.stem, "n": len(items), **right}


def score_buoy(program, folder, path, count):
    items = [json.loads(line) for line in path.read_text().splitlines()[:count]]
    right = sum(answer_of(program, folder, prompt_text(item)) in item["answers"] for item in items)
    low, high = train_pair.wilson(right, len(items))
    return {"set": path.stem, "n": len(items), "exact": right / len(items), "low": low, "high": high}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--buoy", type=Path, required=True)
    parser.add_argument("--world", type=Path, required=True)
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--no-pytorch", action="store_true")
    options = parser.parse_args()
    paths = [options.world / "sets" / f"{name}.jsonl" for name in options.sets]
    if options.no_pytorch:
        for path in paths:
            print(json.dumps(score_buoy(options.buoy, options.model, path, options.items)), flush=True)
        return
    vocabulary = Vocabulary(options.model / "tokenizer.json")
    model = load_model(options.model, vocabulary)
    print(json.dumps(compare_logits(options.buoy, options.model, model, vocabulary, options.world)), flush=True)
    for path in paths:
        print(json.dumps(compare_answers(options.buoy, options.model, model, vocabulary, path, options.items)),
              flush=True)


if __name__ == "__main__":
    main()
