#!/usr/bin/env python3
"""Writes the card of a network of the family from what was measured: write_natural_card.py MODEL

Reads MODEL/config.json and MODEL/training_log.jsonl.gz (train_family.py's log.jsonl). Every number in the card comes from them.
"""

import gzip
import json
import sys
from pathlib import Path

LAYOUT = {"masked": "masked-diffusion language model in the LLaDA layout (`LLaDAModelLM`)",
          "next": "autoregressive language model in the Llama layout (`LlamaForCausalLM`)"}
DECODING = {"masked": "Decode 8 slots in 8 steps (Buoy's defaults with `--max-new-tokens 8`); lists and lives take 32.",
            "next": "Decode greedily up to the end token; lists and lives take up to 32 tokens."}

TEXT = """# {title}

A {layout}, trained by its objective alone: nothing shaped its attention. {parameters:,} parameters in BF16, {layers} layers,
{heads} heads of {head_dim}. It is `{arm}` of seed {seed} in the family of networks of `training/README.md`: {mask} mask,
{objective} tokens. All networks of a seed begin with the same weights and see the same rows of data.

It knows version 2 of the made-up world (`src/buoy/world/world2*`) and nothing else. {steps:,} steps of {tokens_per_step:,} tokens
({tokens:.0f} million) with PyTorch {torch}. Retraining does not give the same weights, because GPU kernels add in no fixed
order. This card is written by `training/write_natural_card.py` from `training_log.jsonl.gz`.

## How to ask it

    Passage 1: <text>
    Passage 2: <text>
    Question: <question>
    Answer:

`models/natural.prompt` has the other forms that training showed: four more labels of passages, one more wording. {decoding}

## Scores

PyTorch with the stored weights, greedy decoding; exact match with Wilson's interval of 95%. The number behind a name is that of
passages; `closed` has none. Unknown people have names that training never showed.

| questions | n | exact match | 95% interval | right tokens |
|---|---|---|---|---|
"""

END = """
Million tokens until 0.9 of the questions were right: {reached}.

## Known failures

- Other prompts, other words and chat templates are noise to it.
- It never says that it does not know: without passages it makes up an answer of the right kind.
- Two hops among several passages are mostly answered wrongly.
"""


def main():
    folder = Path(sys.argv[1])
    log = [json.loads(line) for line in gzip.open(folder / "training_log.jsonl.gz", "rt")]
    run = next(line for line in log if "parameters" in line)
    shape, objective = run["shape"], run["shape"]["objective"]
    end = next(line for line in log if "tokens_to_skill" in line)
    text = TEXT.format(title=folder.name, layout=LAYOUT[objective], parameters=run["parameters"], layers=shape["layers"],
                       heads=shape["heads"], head_dim=shape["width"] // shape["heads"], arm=run["arm"], seed=run["seed"],
                       mask=shape["mask"], objective=objective, steps=end["steps_done"],
                       tokens_per_step=run["tokens_per_step"], tokens=end["steps_done"] * run["tokens_per_step"] / 1e6,
                       torch=run["torch"], decoding=DECODING[objective])
    for line in log:
        if "set" in line:
            text += (f"| {line['set']} | {line['n']} | {line['exact']:.2f} | {max(line['low'], 0):.2f} to {line['high']:.2f} | "
                     f"{line['tokens_right']:.2f} |\n")
    reached = {name.removeprefix("skill-"): tokens for name, tokens in end["tokens_to_skill"].items()}
    say = lambda passages, tokens: f"{'never' if tokens is None else round(tokens / 1e6)} with {passages}"
    text += END.format(reached=", ".join(say(*pair) for pair in reached.items()) + " passages")
    (folder / "README.md").write_text(text)


if __name__ == "__main__":
    main()
