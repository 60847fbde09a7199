"""Answers and scores of the family's networks on question sets of version 2."""

import itertools
import json
import math

import numpy as np
import torch

from body import half_precision
from interval import wilson

LONG_TASKS = ("list", "life")


def batches(prompts, slots, budget):
    """Groups of neighbours that fit into a packed row."""
    batch, size = [], 0
    for prompt in prompts:
        if batch and size + len(prompt) + slots > budget:
            yield batch
            batch, size = [], 0
        batch.append(prompt)
        size += len(prompt) + slots
    if batch:
        yield batch


@torch.no_grad()
def decode(model, prompts, slots, vocabulary, device, budget=131072):
    """Greedy answers of `slots` tokens: left to right, or for masked networks by LLaDA's low-confidence rule, one token
    a step."""
    following = model.shape["objective"] == "next"
    empty = vocabulary.end if following else vocabulary.mask
    answers = []
    for batch in batches(prompts, slots, budget):
        rows = [list(prompt) + [empty] * slots for prompt in batch]
        ends = np.cumsum([len(row) for row in rows])
        begins = np.concatenate([[0], ends])
        tensor = lambda array, kind: torch.as_tensor(np.asarray(array), dtype=kind, device=device)
        tokens = tensor(np.concatenate(rows), torch.long)
        positions = tensor(np.concatenate([np.arange(len(row)) for row in rows]), torch.long)
        places = tensor(ends[:, None] - slots + np.arange(slots), torch.long)  # [batch, slots]
        prefix = None
        if model.shape["mask"] == "prefix":
            inside = torch.ones(len(tokens), dtype=torch.bool, device=device)
            inside[places] = False
            cuts = np.append(np.stack([begins[:-1], ends - slots], 1).reshape(-1), ends[-1])
            prefix = {"begins": tensor(cuts, torch.int32), "inside": inside}
        begins = tensor(begins, torch.int32)
        for step in range(slots):
            with half_precision(device):
                x, _ = model.stream(tokens, positions, begins, prefix)
                logits = model.head(x[places[:, step] - 1] if following else x[places]).float()
            if following:
                tokens[places[:, step]] = logits.argmax(-1)
                if (tokens[places[:, :step + 1]] == vocabulary.end).any(-1).all():
                    break  # the places behind an end token are not read
                continue
            confidence, proposal = logits.softmax(-1).max(-1)
            confidence[tokens[places] != vocabulary.mask] = -math.inf
            best = confidence.argmax(-1, keepdim=True)
            tokens[places.gather(1, best)] = proposal.gather(1, best)
        answers += tokens[places].tolist()
    return answers


class QuestionSet:
    def __init__(self, path, tables, vocabulary, limit=None):
        self.name, self.vocabulary = path.stem, vocabulary
        self.items = [json.loads(line) for line in path.read_text().splitlines()[:limit]]
        self.prompts = [[vocabulary.begin] + vocabulary.encode(item["prompt"]) for item in self.items]
        is_long = self.items[0]["labels"]["task"] in LONG_TASKS
        self.slots = tables["long_slots" if is_long else "short_slots"]

    def score(self, answers):
        """Exact match with its interval; the share of right tokens; how often the value that a label names was given
        (contradictions)."""
        right, tokens, named = 0, 0.0, {}
        for item, ids in zip(self.items, answers):
            ids = ids[:ids.index(self.vocabulary.end)] if self.vocabulary.end in ids else ids
            answer = self.vocabulary.decode(ids).strip()
            right += answer in item["answers"]
            wanted = self.vocabulary.encode(" " + item["answers"][0])
            tokens += sum(a == b for a, b in zip(ids, wanted)) / max(len(ids), len(wanted))
            for label in ("rival", "first", "second"):
                if label in item["labels"]:
                    named[label] = named.get(label, 0) + (answer == item["labels"][label])
        n = len(self.items)
        low, high = wilson(right, n)
        return {"n": n, "exact": right / n, "low": low, "high": high, "tokens_right": round(tokens / n, 4),
                **{label: count / n for label, count in named.items()}}


def measure(model, sets, device):
    """Scores by set. Sets of equal places for answers are decoded together."""
    model.eval()
    scores = {}
    for slots in sorted({each.slots for each in sets}):
        group = [each for each in sets if each.slots == slots]
        prompts = [prompt for each in group for prompt in each.prompts]
        answers = iter(decode(model, prompts, slots, group[0].vocabulary, device))
        scores |= {each.name: each.score(list(itertools.islice(answers, len(each.prompts)))) for each in group}
    model.train()
    return {each.name: scores[each.name] for each in sets}
