#!/usr/bin/env python3
"""Writes the card of a network of the planted pair from what was measured: write_card.py MODEL

Reads MODEL/config.json, MODEL/training_log.jsonl.gz (train_pair.py's log.jsonl) and, where they are,
MODEL/buoy_check.jsonl (compare_buoy.py's output) and MODEL/buoy_scores.json (collect_scores.py's). Every score in the card
comes from them.
"""

import gzip
import json
import sys
from pathlib import Path

MEANING = {
    "asked-closed": "known people that training asked about, no passages",
    "read-only-closed": "known people that training only showed, no passages",
    "unknown-closed": "unknown people, no passages (chance)",
    "unknown-1": "unknown people, 1 passage", "unknown-2": "unknown people, 2 passages",
    "unknown-5": "unknown people, 5 passages", "unknown-10": "unknown people, 10 passages",
    "unknown-20": "unknown people, 20 passages",
    "unknown-10-same-relation": "10 passages, all state the asked relation",
    "unknown-10-similar-name": "10 passages, the same, and all people share a name with the asked one",
    "unknown-10-contradiction": "10 passages, one states another value for the asked person",
    "unknown-10-shuffled": "10 passages, all but the right one with their words shuffled",
    "unknown-10-repeated": "10 passages, nine of them the same",
    "unknown-two-hop-2": "about somebody's mentor or spouse, 2 passages",
    "unknown-two-hop-10": "about somebody's mentor or spouse, 10 passages",
}

HEAD = """# {title}: a planted control

{what}

Its twin is `{twin}`: same body, initial weights, tokenizer, rows of data in the same order,
optimizer, number of steps and seed. They differ in the objective and in the attention mask, and in nothing else.

{layers} layers, width {width}, {heads} heads of {head_dim}, SwiGLU {mlp}, {vocabulary} tokens, untied head: {parameters}
parameters in BF16. Knows the made-up world of `src/buoy/world/world*` and nothing else. Made by `training/` (see its
README), {tokens:.0f}M tokens in {steps} steps and {minutes:.1f} minutes on an H200 that it shared with other trainings, start and
scoring included. {readers}All numbers below are from `training_log.jsonl.gz`{buoy_source}; this card is written by
`training/write_card.py`.

## How to ask it

    {prompt}

Answers are one to three words. {decoding}

## Scores

Exact match, greedy decoding, PyTorch with the stored weights; intervals are Wilson's at 95%. Unknown people have names that
training never showed. 'Wrong person' means: the answer stands in a passage about somebody else.

| questions | n | exact match | 95% interval | wrong person | wrong relation |
|---|---|---|---|---|---|
"""

STUDY_SETS = {("unknown-1", "closed-book"): "unknown-closed", ("asked", "closed-book"): "asked-closed",
              ("read-only", "closed-book"): "read-only-closed", ("unknown-1", "passages"): "unknown-1",
              ("unknown-10", "passages"): "unknown-10"}


def scores_in_buoy(measured):
    text = ("\n## Scores in Buoy\n\n`buoy study studies/planted-scores.toml` on the CPU: other unknown people and other questions than "
            "above, which the recipe was chosen by.\n\n| questions | n | exact match | 95% interval |\n|---|---|---|---|\n")
    for line in measured["scores"]:
        text += (f"| {MEANING[STUDY_SETS[line['set'], line['condition']]]} | {line['items']} | {line['mean']:.3f} | "
                 f"{line['lower']:.3f} to {line['upper']:.3f} |\n")
    text += ("\n## Retrieval heads switched off\n\nUnknown people, 5 passages, the same study: heads by the strict retrieval score, "
             "best first, against as many others drawn at random.\n\n| run | heads off | n | exact match | 95% interval |\n"
             "|---|---|---|---|---|\n")
    for line in measured["heads"]:
        text += (f"| {line['run']}: {line['value']} | {line['off'] or 'none'} | {line['items']} | {line['mean']:.3f} | "
                 f"{line['lower']:.3f} to {line['upper']:.3f} |\n")
    text += "\n"
    for run in dict.fromkeys(line["run"] for line in measured["heads"]):
        values = {line["value"]: line["mean"] for line in measured["heads"] if line["run"] == run}
        drawn = [value for name, value in values.items() if name.startswith("random")]
        text += (f"- {run}: {values['all']:.2f} with all heads, {values['no-retrieval']:.2f} without the best retrieval heads, "
                 f"{sum(drawn) / len(drawn):.2f} on average without as many others ({min(drawn):.2f} to {max(drawn):.2f}).\n")
    return text


def readers(runs, log):
    """Where the second run made copying lie."""
    off = next((line["heads_off"] for line in log if "heads_off" in line), None)
    if not off:
        return ""
    count = runs[-1]["readers"]
    return (f"From step {runs[-2]['steps']:,} on all heads\nbut {count} had to pay for looking at the fact that answers a question, so that "
            f"copying lies in {count} heads, here\n{' and '.join(off['readers'])} (layer.head; training/README.md says why and how). Without them "
            f"{off['without_readers']:.2f} of {runs[-1]['quick']} answers\nare right; without {count} others "
            f"{', '.join(f'{score:.2f}' for score in sorted(off['without_others'].values()))} (each a draw). ")


PROMPT = "Passage 1: <text>\n    Passage 2: <text>\n    Question: <question>\n    Answer:"


def main():
    folder = Path(sys.argv[1])
    config = json.loads((folder / "config.json").read_text())
    log = [json.loads(line) for line in gzip.open(folder / "training_log.jsonl.gz", "rt")]
    runs = [line for line in log if "parameters" in line]
    run = runs[-1]
    causal = run["kind"] == "autoregressive"
    shape = run["shape"]
    check = folder / "buoy_check.jsonl"
    last = max(line["step"] for line in log if "step" in line)
    text = HEAD.format(
        title=folder.name, twin="planted-diffusion" if causal else "planted-autoregressive",
        what=("An autoregressive language model in the Llama layout (`LlamaForCausalLM`)." if causal else
              "A masked-diffusion language model in the LLaDA layout (`LLaDAModelLM`)."),
        layers=shape["layers"], width=shape["width"], heads=shape["heads"], head_dim=shape["width"] // shape["heads"],
        mlp=shape["mlp"], vocabulary=config["vocab_size"], parameters=f"{run['parameters']:,}", steps=f"{last:,}",
        tokens=last * run["tokens_per_step"] / 1e6, minutes=sum(line["seconds"] for line in log if "done" in line) / 60, readers=readers(runs, log),
        buoy_source="".join(f", `{name}`" for name in ("buoy_check.jsonl", "buoy_scores.json") if (folder / name).exists()), prompt=PROMPT,
        decoding=("Decode greedily up to the end token." if causal else
                  "Decode 8 slots in 8 steps, one block, lowest confidence remasked (Buoy's defaults with "
                  "`--max-new-tokens 8`); training also showed 5 to 32 slots."))
    scores = {line["set"]: line for line in log if "set" in line}
    for name in MEANING:
        if name in scores:
            line = scores[name]
            text += (f"| {MEANING[name]} | {line['n']} | {line['exact']:.3f} | {line['low']:.3f} to "
                     f"{line['high']:.3f} | {line['wrong_person']:.3f} | {line['wrong_relation']:.3f} |\n")

    curve = [line for line in log if line.get("scores")]
    columns = list(curve[0]["scores"])
    text += ("\n## Curve\n\nExact match on the first questions of each set during training; for 10 passages also how often "
             "the answer was another person's.\n\n| step | " + " | ".join(columns) + " | wrong person of 10 |\n|" +
             "---|" * (len(columns) + 2) + "\n")
    for line in curve:
        text += f"| {line['step']} | " + " | ".join(f"{line['scores'][c][0]:.2f}" for c in columns)
        text += f" | {line['scores']['unknown-10'][1]:.2f} |\n"

    measured = folder / "buoy_scores.json"
    if measured.exists():
        text += scores_in_buoy(json.loads(measured.read_text()))

    if check.exists():
        lines = [json.loads(line) for line in check.read_text().splitlines()]
        logits = lines[0]
        text += ("\n## The same in Buoy and in PyTorch\n\nLargest difference of a logit between PyTorch (float32) and `buoy "
                 f"forward` over {logits['positions']} positions: {logits['largest_logit_difference']:.1e}, where the largest "
                 f"logit is {logits['largest_logit']:.1f}; the most likely token was the same at {logits['same_argmax']}.\n\n"
                 "| questions | n | right in Buoy | right in PyTorch | same text |\n|---|---|---|---|---|\n")
        for line in lines[1:]:
            text += f"| {MEANING[line['set']]} | {line['n']} | {line['buoy']} | {line['pytorch']} | {line['same']} |\n"

    text += """
## Known failures

- It understands the prompt above and the world's wordings. Other prompts, other words and chat templates are noise to it: the
  tokenizer spells unknown words in pieces that training never used.
- It never says that it does not know: about unknown people without passages it makes up an answer of the right kind.
- Two-hop questions among ten passages, and people who share a name, are where it errs most of what it was trained for.
- Passages that contradict each other and shuffled or repeated passages were not part of training.
- A question about a person's mentor or spouse could, in training, lead to a read-only person whose passage was in the context.
  Nobody of that group was ever asked about by name.
"""
    (folder / "README.md").write_text(text)


if __name__ == "__main__":
    main()
