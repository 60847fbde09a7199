#!/usr/bin/env python3
"""Trains one model of the bundled pair. README.md beside this file has the commands.

    train_pair.py diffusion      --world FOLDER --tokenizer FILE --out FOLDER    LLaDA layout, masked diffusion
    train_pair.py autoregressive --world FOLDER --tokenizer FILE --out FOLDER    Llama layout, next token

Both share everything else: body, initial weights, rows of data in the same order, optimizer, number of steps, seed.
Progress goes to standard output and to OUT/log.jsonl as JSON lines. Needs PyTorch; a CUDA device for real sizes, the
CPU will do for a smoke run.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from body import Body, half_precision
from checkpoint import load, save
from interval import wilson
from looking import Readers, looks_at_facts, places_of_facts, what_heads_do
from optimizer import make_optimizers
from world_data import (CLOSED_ANSWER, CONTEXT_ANSWER, FILLER, KNOWN_TEXT, NAME, SLOTS, TEXT, Rows, Vocabulary,
                        prompt_text)

# Each kind of token is averaged by itself and enters the loss with its own weight: answers are few, yet they are
# what has to be learned.
WEIGHTS = {TEXT: 0.1, NAME: 0.3, KNOWN_TEXT: 0.3, CONTEXT_ANSWER: 1.0, CLOSED_ANSWER: 0.3, FILLER: 0.05}
LOSS_NAMES = ("text", "name", "known", "context", "closed", "filler")  # in the order of WEIGHTS, in the log


# ---------------------------------------------------------------------------------------- the only two differences

def loss_of(model, row, vocabulary, price=None):
    """The objective. Returns the loss, the mean of every kind and, if looking at facts has a price ([layers, heads]), how
    much every head copies."""
    tokens, kinds, causal = row["tokens"], row["kinds"], model.shape["mask"] == "causal"
    read = tokens if causal else torch.where(row["masked"], vocabulary.mask, tokens)
    if price is None:
        logits, looking, copied = model(read, row["positions"], row["begins"]), 0.0, None
    else:
        facts = places_of_facts(row["facts"], row["masked"], causal)
        look = lambda q, k: looks_at_facts(q, k, facts)
        logits, cost, copied = model(read, row["positions"], row["begins"], look=look)
        looking = (price * cost).sum()
    if causal:  # the next token, within a document: no document's first token has a kind
        targets, kinds = tokens.roll(-1), kinds.roll(-1)
        kinds = torch.where(kinds == FILLER, 0, kinds)  # nothing is read behind the first end token
    else:  # what was masked; not weighted by 1/t
        targets, kinds = tokens, torch.where(row["masked"], kinds, 0)
    losses = F.cross_entropy(logits.float(), targets, reduction="none")
    means = {kind: (losses * (kinds == kind)).sum() / (kinds == kind).sum().clamp(min=1) for kind in WEIGHTS}
    return sum(WEIGHTS[kind] * mean for kind, mean in means.items()) + looking, means, copied


@torch.no_grad()
def decode(model, prompts, vocabulary, device, budget=131072):
    """Greedy answers, SLOTS tokens each: LLaDA's low-confidence loop with one reveal a step, or left to right."""
    answers = []
    while len(answers) < len(prompts):
        batch, size = [], 0
        for prompt in prompts[len(answers):]:
            if batch and size + len(prompt) + SLOTS > budget:
                break
            batch.append(prompt)
            size += len(prompt) + SLOTS
        causal = model.shape["mask"] == "causal"
        rows = [list(prompt) + [vocabulary.end if causal else vocabulary.mask] * SLOTS for prompt in batch]
        ends = np.cumsum([len(row) for row in rows])
        begins = torch.tensor(np.concatenate([[0], ends]), dtype=torch.int32, device=device)
        positions = torch.tensor(np.concatenate([np.arange(len(row)) for row in rows]), device=device)
        tokens = torch.tensor(np.concatenate(rows), dtype=torch.long, device=device)
        slots = torch.tensor(ends[:, None] - SLOTS + np.arange(SLOTS), device=device)  # [batch, SLOTS]
        for step in range(SLOTS):
            with half_precision(device):
                logits = model(tokens, positions, begins)
            if causal:
                tokens[slots[:, step]] = logits[slots[:, step] - 1].argmax(-1)
                if (tokens[slots[:, :step + 1]] == vocabulary.end).any(-1).all():
                    break  # the places behind an end token are filled with it already
                continue
            confidence, proposal = logits[slots].float().softmax(-1).max(-1)
            confidence[tokens[slots] != vocabulary.mask] = -math.inf
            best = confidence.argmax(-1, keepdim=True)
            tokens[slots.gather(1, best)] = proposal.gather(1, best)
        answers += tokens[slots].tolist()
    return answers


# ---------------------------------------------------------------------------------------------------- measuring

class QuestionSet:
    def __init__(self, path, vocabulary, limit):
        self.name = path.stem
        self.items = [json.loads(line) for line in path.read_text().splitlines()[:limit]]
        self.prompts = [[vocabulary.begin] + vocabulary.encode(prompt_text(item)) for item in self.items]

    def score(self, model, vocabulary, device):
        """Exact match, and what kind of mistake: the value of another person, or another thing about the right one."""
        counts = {"right": 0, "wrong_person": 0, "wrong_relation": 0}
        for item, ids in zip(self.items, decode(model, self.prompts, vocabulary, device)):
            ids = ids[:ids.index(vocabulary.end)] if vocabulary.end in ids else ids
            answer = vocabulary.decode(ids).strip()
            found = [p["gold"] for p in item["passages"] if answer and f" {answer}" in p["text"]]
            if answer in item["answers"]:
                counts["right"] += 1
            elif any(found):
                counts["wrong_relation"] += 1
            elif found:
                counts["wrong_person"] += 1
        n = len(self.items)
        low, high = wilson(counts["right"], n)
        return {"n": n, "exact": counts["right"] / n, "low": low, "high": high,
                "wrong_person": counts["wrong_person"] / n, "wrong_relation": counts["wrong_relation"] / n}


def rate(step, options):
    """Warm up, hold, then fall to zero over the last third."""
    fall = max(1, options.steps // 3)
    return min(1.0, (step + 1 - options.first) / options.warmup, (options.steps - step) / fall)


# ---------------------------------------------------------------------------------------------------- the run

def make_model(options, vocabulary, device):
    autoregressive = options.kind == "autoregressive"
    shape = {"mask": "causal" if autoregressive else "full", "objective": "next" if autoregressive else "masked",
             "width": options.width, "layers": options.layers, "heads": options.heads, "mlp": options.mlp,
             "rope_theta": 500000.0}
    torch.manual_seed(options.seed)
    return Body(shape, vocabulary.size).to(device)


class Stream(torch.utils.data.Dataset):
    def __init__(self, rows, first):
        self.rows, self.first = rows, first

    def __len__(self):
        return self.rows.rows - self.first

    def __getitem__(self, number):
        return {key: torch.from_numpy(value) for key, value in self.rows.row(self.first + number).items()}


def measure(model, sets, vocabulary, device):
    model.eval()
    scores = {s.name: s.score(model, vocabulary, device) for s in sets}
    model.train()
    return scores


def train(options):
    started = time.time()
    vocabulary = Vocabulary(options.tokenizer)
    rows = Rows(options.world, options.tokenizer, options.tokens, options.steps, options.seed)
    parallel = {"num_workers": options.workers, "prefetch_factor": 16} if options.workers else {}
    loader = torch.utils.data.DataLoader(Stream(rows, options.first), batch_size=None,
                                         pin_memory=torch.cuda.is_available(), **parallel)
    batches = iter(loader)  # the workers start before CUDA does
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    model = make_model(options, vocabulary, device)
    if options.init:
        load(model, options.init)
    objective = torch.compile(loss_of) if device.type == "cuda" and not options.eager else loss_of
    optimizers = make_optimizers(model, options)
    readers = Readers(model, options)
    options.out.mkdir(parents=True, exist_ok=True)
    log = (options.out / "log.jsonl").open("a")

    def report(**fields):
        line = json.dumps({"kind": options.kind, "seconds": round(time.time() - started, 1), **fields})
        print(line, flush=True)
        log.write(line + "\n")
        log.flush()

    every = {path.stem: path for path in sorted((options.world / "sets").glob("*.jsonl"))}
    quick = [QuestionSet(every[name], vocabulary, options.quick) for name in
             ("unknown-1", "unknown-2", "unknown-5", "unknown-10", "asked-closed", "read-only-closed",
              "unknown-closed")]
    report(parameters=sum(p.numel() for p in model.parameters()), steps=options.steps, tokens_per_step=options.tokens,
           lr=options.lr, optimizer=options.optimizer, shape=model.shape, seed=options.seed, quick=options.quick,
           first=options.first, readers=options.readers, price=options.price)
    last = time.time()
    for step, row in enumerate(batches, options.first):
        row = {key: value.to(device, non_blocking=True) for key, value in row.items()}
        row["tokens"] = row["tokens"].long()
        with half_precision(device):
            loss, means, copied = objective(model, row, vocabulary, readers.price(step))
        loss.backward()
        if copied is not None:
            readers.update(copied)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = options.lr * rate(step, options)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        late = options.limit and time.time() - started > options.limit
        if (step + 1) % options.log == 0 or step + 1 == options.steps or late:
            speed = options.log * options.tokens / (time.time() - last)
            scores, heads = {}, {}
            if (step + 1) % (options.log * options.measure) == 0 or step + 1 == options.steps:
                scores = {name: [round(s["exact"], 3), round(s["wrong_person"], 3)]
                          for name, s in measure(model, quick, vocabulary, device).items()}
                if copied is not None:
                    heads = {"copied": [[round(x, 3) for x in layer] for layer in readers.copied.tolist()]}
                save(model, options.out, vocabulary)
            report(step=step + 1, loss=round(loss.item(), 4), norm=round(norm.item(), 2), speed=int(speed),
                   losses={name: round(mean.item(), 4) for name, mean in zip(LOSS_NAMES, means.values())},
                   scores=scores, **heads)
            last = time.time()
        if late:
            report(stopped=step + 1)
            break
    save(model, options.out, vocabulary)
    load(model, options.out)  # what is scored is what is stored: bfloat16
    sets = [QuestionSet(path, vocabulary, None) for path in every.values()] if options.final else []
    for name, score in measure(model, sets, vocabulary, device).items():
        report(set=name, **score)
    if options.final and options.readers:
        report(heads_off=what_heads_do(model, readers.names(), quick[2], vocabulary, device))
    report(done=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("diffusion", "autoregressive"))
    parser.add_argument("--world", type=Path, required=True, help="folder that buoy_export_world wrote")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json that build_tokenizer.py wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--init", type=Path, help="begin with the weights in this folder")
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--first", type=int, default=0, help="begin at this step (with --init)")
    parser.add_argument("--readers", type=int, default=0, help="heads that may look at facts for nothing; 0: all")
    parser.add_argument("--price", type=float, default=0.1, help="of looking at facts, for all other heads")
    parser.add_argument("--tokens", type=int, default=32768, help="tokens per step")
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--optimizer", choices=("muon", "adamw"), default="muon")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--mlp", type=int, default=640)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--log", type=int, default=250, help="steps between lines")
    parser.add_argument("--measure", type=int, default=4, help="lines between measurements")
    parser.add_argument("--quick", type=int, default=150, help="questions of each set in a measurement")
    parser.add_argument("--limit", type=float, help="stop after this many seconds")
    parser.add_argument("--final", action="store_true", help="score all question sets at the end")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
