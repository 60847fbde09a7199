#!/usr/bin/env python3
"""Checks a trained pair against public libraries.

    check_pair.py --world FOLDER --tokenizer FILE [--autoregressive FOLDER]

The `tokenizers` library must split every prompt of the question sets as training did, and the autoregressive model must
give the same logits in `transformers`. (LLaDA's modelling code is not part of transformers: the diffusion model is
checked against Buoy instead, see compare_buoy.py.)
"""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer

import train_pair
from checkpoint import shape_of
from world_data import Vocabulary, prompt_text


def check_tokens(world, tokenizer, vocabulary):
    library, prompts = Tokenizer.from_file(str(tokenizer)), 0
    for path in sorted((world / "sets").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            text = prompt_text(json.loads(line))
            assert library.encode(text).ids == [vocabulary.begin] + vocabulary.encode(text), text
            prompts += 1
    return prompts


def check_logits(world, folder, vocabulary):
    from transformers import LlamaForCausalLM
    library = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config = json.loads((folder / "config.json").read_text())
    model = train_pair.Body(shape_of(config), vocabulary.size)
    train_pair.load(model, folder)
    worst = 0.0
    for line in (world / "sets" / "unknown-5.jsonl").read_text().splitlines()[:5]:
        ids = torch.tensor([vocabulary.begin] + vocabulary.encode(prompt_text(json.loads(line))))
        begins = torch.tensor([0, len(ids)], dtype=torch.int32)
        with torch.no_grad():
            ours, theirs = model(ids, torch.arange(len(ids)), begins), library(ids[None]).logits[0]
        worst = max(worst, (ours - theirs).abs().max().item())
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--autoregressive", type=Path)
    options = parser.parse_args()
    vocabulary = Vocabulary(options.tokenizer)
    result = {"prompts_split_alike": check_tokens(options.world, options.tokenizer, vocabulary)}
    if options.autoregressive:
        result["largest_logit_difference_to_transformers"] = check_logits(options.world, options.autoregressive,
                                                                          vocabulary)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
