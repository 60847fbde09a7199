#!/usr/bin/env python3
"""What it costs to drive every step from Python: generate() against the same with an empty on_step=, and against a loop over
steps(). One line a model; times are medians, and the ratio is the median of pairs that ran one after the other.

    PYTHONPATH=build/python/python python3 bench/python_steps.py [MODEL...] [--pairs 31] [--new-tokens 64] [--device cpu]

--cpu-time counts the time of this process on one thread instead: for machines that are busy with something else.
"""

import argparse
import statistics
import sys
import time

import buoy

PROMPT = "Question: Who employs Klados Hebwick?\nAnswer:"


def loop(model, **options):
    steps = model.steps(PROMPT, **options)
    for _ in steps:
        pass
    return steps.run


def measured(model, pairs, clock, **options):
    ways = {"generate": lambda: model.generate(PROMPT, **options),
            "on_step": lambda: model.generate(PROMPT, on_step=lambda step: None, **options), "loop": lambda: loop(model, **options)}
    if len({tuple(way().ids.tolist()) for way in ways.values()}) != 1:
        sys.exit("the ways differ in their tokens")
    seconds = {name: [] for name in ways}
    for number in range(pairs):
        # Turn by turn, in changing order: what else the machine does meets all of them.
        for name in list(ways)[number % 3:] + list(ways)[:number % 3]:
            begun = clock()
            ways[name]()
            seconds[name].append(clock() - begun)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["planted-diffusion", "planted-autoregressive", "natural-diffusion", "natural-autoregressive"])
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cpu-time", action="store_true")
    given = parser.parse_args()
    print("| model | generate, ms | on_step, ratio | steps(), ratio | steps |\n|---|---|---|---|---|")
    for name in given.models:
        model = buoy.load(name if "/" in name else buoy.example_model(name), device=given.device, threads=1 if given.cpu_time else 0)
        # No end token: all of them are decoded.
        options = {"max_new_tokens": given.new_tokens, "allow_long": True}
        if not model.is_diffusion:
            options["eos_tokens"] = [0]
        seconds = measured(model, given.pairs, time.process_time if given.cpu_time else time.perf_counter, **options)
        ratios = [statistics.median(b / a for a, b in zip(seconds["generate"], seconds[way])) for way in ("on_step", "loop")]
        run = model.generate(PROMPT, **options)
        print(f"| {model.name} | {1000 * statistics.median(seconds['generate']):.1f} | {ratios[0]:.3f} | {ratios[1]:.3f} | "
              f"{int(run.revealed_at.max()) + 1} |", flush=True)


main()
