#!/usr/bin/env python3
"""Trains one network of the family. README.md beside this file says what the arms are and gives the commands.

    train_family.py causal-next   --world FOLDER --out FOLDER --seed 1    causal mask, next token (Llama layout)
    train_family.py causal-masked ...                                     causal mask, masked tokens (LLaDA layout)
    train_family.py full-masked   ...                                     full mask, masked tokens (LLaDA layout)
    train_family.py prefix-next   ...                                     full over passages and questions, causal over
                                                                          answers, next token on answers (Llama layout)

The arms of a seed share initial weights, rows of data in the same order, optimizer and number of steps. Progress goes to
standard output and to OUT/log.jsonl as JSON lines. Needs PyTorch; a CUDA device for real sizes, the CPU will do for a
smoke run.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from torch import nn

from body import half_precision
from check_attention import check_attention
from checkpoint import load, save
from family_arms import ARMS, loss_of, make_model, named, to_device
from family_rows import NOISES, FamilyRows, arranged
from family_scores import QuestionSet, measure
from optimizer import make_optimizers
from world_data import Vocabulary

SKILL = (1, 2, 5, 10)  # passages of the sets that are measured while training runs
SKILLED = 0.9


class Stream(torch.utils.data.Dataset):
    def __init__(self, rows, arm, steps):
        self.rows, self.arm, self.steps = rows, arm, steps

    def __len__(self):
        return self.steps

    def __getitem__(self, number):
        row = arranged(self.rows.row(number), self.arm, self.rows.world.vocabulary.mask)
        return {key: torch.from_numpy(value) for key, value in row.items()}


def rate(step, elapsed, options):
    """Warm up, hold, fall to zero over the last part of the steps; also over the last quarter of --limit, if that comes
    first."""
    factor = min(1.0, (step + 1) / options.warmup, (options.steps - step) / max(1, options.decay * options.steps))
    return min(factor, max(0.0, 4 * (1 - elapsed / options.limit))) if options.limit else factor


class Skill:
    """How well passages are read as training goes on, and after how many tokens each set was first read well."""

    def __init__(self, sets, tokens_per_step):
        self.sets, self.tokens_per_step = sets, tokens_per_step
        self.reached = {each.name: None for each in sets}

    def measure(self, model, step, device):
        scores = {name: round(score["exact"], 3) for name, score in measure(model, self.sets, device).items()}
        for name, score in scores.items():
            if score >= SKILLED and self.reached[name] is None:
                self.reached[name] = step * self.tokens_per_step
        return scores


def wait_for_others(options):
    """Until as many trainings as --together says have come here: speed is measured while all of them run."""
    ready = options.out.parent / "ready"
    ready.mkdir(exist_ok=True)
    (ready / options.out.name).touch()
    for _ in range(2000):
        if len(list(ready.iterdir())) >= options.together:
            return
        time.sleep(0.1)
    raise SystemExit(f"not all of {options.together} trainings came")


class Log:
    def __init__(self, arm, folder):
        self.fixed, self.started = {"arm": arm}, time.time()
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "log.jsonl").open("a")

    def seconds(self):
        return time.time() - self.started

    def write(self, **fields):
        line = json.dumps({**self.fixed, "seconds": round(self.seconds(), 1), **fields})
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()


def run_steps(model, batches, skill, log, options, keep):
    """The training loop. Returns the number of steps done. Calls `keep` after each measurement."""
    device = model.head.weight.device
    objective = torch.compile(loss_of, dynamic=False) if device.type == "cuda" and not options.eager else loss_of
    optimizers = make_optimizers(model, options)
    done, last, waited, measured = 0, time.time(), 0.0, 0.0
    for step in range(options.steps):
        before = time.time()
        row = next(batches)
        waited += time.time() - before
        row = to_device(row, device)
        with half_precision(device):
            loss, parts = objective(model, row)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        factor = rate(step, log.seconds(), options)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = options.lr * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        done = step + 1
        late = options.limit and log.seconds() > options.limit
        if done % options.log == 0 or done == options.steps or late:
            fields = {"loss": round(loss.item(), 4), "norm": round(norm.item(), 2), "losses": named(parts)}
            now = time.time()
            steps = (done - 1) % options.log + 1
            fields |= {"ms_per_step": round((now - last) / steps * 1e3, 2), "waited": round(waited, 2),
                       "tokens_per_second": int(steps * options.tokens / (now - last)), "rate": round(factor, 3)}
            scores = {}
            if done % (options.log * options.measure) == 0 or done == options.steps or late:
                scores = {"scores": skill.measure(model, done, device)}
                keep()
                measured += time.time() - now
            log.write(step=done, tokens=done * options.tokens, **fields, **scores)
            if options.together and done == options.log:
                wait_for_others(options)
            last, waited = time.time(), 0.0
        if late:
            break
    log.write(stopped=done, measured_seconds=round(measured, 1))
    return done


def train(options):
    log = Log(options.arm, options.out)
    tokenizer = options.world / "tokenizer" / "tokenizer.json"
    vocabulary = Vocabulary(tokenizer)
    rows = FamilyRows(options.world, tokenizer, options.tokens, options.seed, options.noise)
    parallel = {"num_workers": options.workers, "prefetch_factor": 16} if options.workers else {}
    batches = iter(torch.utils.data.DataLoader(Stream(rows, ARMS[options.arm], options.steps), batch_size=None,
                                               pin_memory=torch.cuda.is_available(), **parallel))
    # The workers have started, before CUDA does.
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    log.write(attention=check_attention(device))
    model = make_model(options.arm, options, vocabulary, device)
    paths = {path.stem: path for path in sorted((options.world / "sets").glob("*.jsonl"))}
    tables = rows.world.tables
    skill = Skill([QuestionSet(paths[f"skill-{n}"], tables, vocabulary, options.quick) for n in SKILL], options.tokens)
    log.write(parameters=sum(p.numel() for p in model.parameters()), steps=options.steps, shape=model.shape,
              tokens_per_step=options.tokens, lr=options.lr, warmup=options.warmup, decay=options.decay,
              seed=options.seed, noise=options.noise, quick=options.quick, torch=torch.__version__)
    keep = lambda: save(model, options.out, vocabulary)
    steps = run_steps(model, batches, skill, log, options, keep)
    keep()
    load(model, options.out)  # what is scored is what is stored: bfloat16
    log.write(tokens_to_skill=skill.reached, skilled=SKILLED, steps_done=steps)
    if options.final:
        sets = [QuestionSet(path, tables, vocabulary, options.final) for path in paths.values()]
        for name, score in measure(model, sets, device).items():
            log.write(set=name, **score)
    log.write(done=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arm", choices=tuple(ARMS))
    parser.add_argument("--world", type=Path, required=True, help="folder that buoy_export_world wrote (version 2), with "
                        "the tokenizer in its folder tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1, help="of initial weights and data")
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--decay", type=float, default=1 / 3, help="share of the steps over which the rate falls")
    parser.add_argument("--tokens", type=int, default=32768, help="tokens per step")
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--optimizer", choices=("muon", "adamw"), default="muon")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--mlp", type=int, default=640)
    parser.add_argument("--noise", choices=NOISES, default="count", help="how masks are drawn: see family_rows.py")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--log", type=int, default=100, help="steps between lines")
    parser.add_argument("--measure", type=int, default=2, help="lines between measurements of skill")
    parser.add_argument("--quick", type=int, default=100, help="questions of each set in a measurement")
    parser.add_argument("--final", type=int, default=0, help="questions of each set that are scored at the end")
    parser.add_argument("--limit", type=float, help="end the steps after this many seconds, the rate falls before; saving "
                        "and scoring come on top")
    parser.add_argument("--together", type=int, help="after the first line wait for this many trainings, whose folders lie "
                        "beside each other")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
