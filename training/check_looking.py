#!/usr/bin/env python3
"""The price of looking against a plain loop over queries and keys, on a trained model; needs no GPU.

    check_looking.py MODEL --world FOLDER

Also that every fact of a row points at the very tokens of its answer. Prints the largest differences; fails where they
are more than rounding.
"""

import argparse
from pathlib import Path

import torch

import body
from compare_buoy import load_model
from looking import ASKING, looks_at_facts, places_of_facts
from world_data import Rows, Vocabulary


def states_of(model, tokens, row):
    """Rotated queries and keys of every layer."""
    states, attend = [], body.attend

    def keep(q, k, v, *others):
        states.append((q, k))
        return attend(q, k, v, *others)

    body.attend = keep
    model(tokens, row["positions"], row["begins"])
    body.attend = attend
    return states


def by_loop(q, k, row, causal):
    """Cost and copied share of one head; q, k: [T, d]."""
    cost = copied = questions = written = 0
    for begin, end, asked, answer, value, count in row["facts"].tolist():
        questions += count > 0
        for query in range(max(asked, answer + count - ASKING), answer + count):
            keys = k[begin:query + 1 if causal else end]
            attention = (keys @ q[query] / q.shape[-1] ** 0.5).softmax(0)
            share = attention[value - 2 - begin:value + count + 1 - begin].sum()
            cost -= torch.log1p(-share.clamp(max=0.9999))
            number = query + causal - answer
            if 0 <= number < count and (causal or row["masked"][query]):
                copied += attention[value + number - begin]
                written += 1
    return cost / questions, copied / written


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--world", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = options.model / "tokenizer.json"
    vocabulary = Vocabulary(tokenizer)
    model = load_model(options.model, vocabulary)
    causal = model.shape["mask"] == "causal"
    row = {key: torch.from_numpy(array) for key, array in
           Rows(options.world, tokenizer, 1500, 15000, 1).row(13000).items()}
    row["tokens"] = row["tokens"].long()
    for _, _, _, answer, value, count in row["facts"].tolist():
        assert torch.equal(row["tokens"][answer:answer + count], row["tokens"][value:value + count])
    read = row["tokens"] if causal else torch.where(row["masked"], vocabulary.mask, row["tokens"])
    facts = places_of_facts(row["facts"], row["masked"], causal)
    _, cost, copied = model(read, row["positions"], row["begins"],
                            look=lambda q, k: looks_at_facts(q, k, facts))
    worst_cost = worst_copied = 0.0
    for layer, (q, k) in enumerate(states_of(model, read, row)):
        for head in range(model.shape["heads"]):
            loop_cost, loop_copied = by_loop(q[:, head], k[:, head], row, causal)
            worst_cost = max(worst_cost, abs(loop_cost - cost[layer, head]).item())
            worst_copied = max(worst_copied, abs(loop_copied - copied[layer, head]).item())
    print({"questions": int((row["facts"][:, 5] > 0).sum()), "largest_difference_of_cost": worst_cost,
           "largest_difference_of_copied": worst_copied, "largest_copied": copied.max().item()})
    assert worst_cost < 1e-4 and worst_copied < 1e-5


if __name__ == "__main__":
    main()
