#!/usr/bin/env python3
"""Python in the loop of a model on a card: what it costs, and whether memory comes back.
    BUOY_PACKAGE=BUILD/python python3 bench/python_on_card.py MODEL
MODEL is a masked-diffusion checkpoint; bench/residual_speed makes one of the 8B shape. Needs numpy alone."""

import gc
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [os.environ.get("BUOY_PACKAGE", str(ROOT / "build/cuda-python/python")), str(ROOT / "python/tests")]
import buoy  # noqa: E402
from test_cuda import CARD, SLACK  # noqa: E402

PROMPT = [5 + i * 7919 % 90000 for i in range(992)]
OPTIONS = {"max_new_tokens": 32, "steps": 32}
TIMES = int(os.environ.get("TIMES", "7"))


def seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def verdict(held):
    return "held" if held else "MISSED"


def drive(model):
    """The program's own loop, an empty callback, and a loop in Python, in turn: a card that warms up slows down all."""
    def in_python():
        for _ in model.steps(PROMPT, **OPTIONS):
            pass
    ways = {
        "its own loop": lambda: model.generate(PROMPT, **OPTIONS),
        "on_step=lambda step: None": lambda: model.generate(PROMPT, on_step=lambda step: None, **OPTIONS),
        "for step in m.steps(...): pass": in_python,
    }
    for call in ways.values():
        call()
        call()  # the second time graphs are recorded
    times = {name: [] for name in ways}
    for n in range(TIMES):
        order = list(ways) if n % 2 == 0 else list(reversed(ways))
        for name in order:
            times[name].append(seconds(ways[name]))
    own = times["its own loop"]
    print(f"its own loop: {statistics.median(own):.4f} s for {OPTIONS['steps']} steps of {len(PROMPT) + 32} tokens, "
          f"from {min(own):.4f} to {max(own):.4f}")
    for name, found in times.items():
        if found is own:
            continue
        # Each beside the one that ran next to it.
        cost = 100 * (statistics.median(a / b for a, b in zip(found, own)) - 1)
        print(f"{name}: {statistics.median(found):.4f} s: {cost:+.2f}% (limit 1%: {verdict(cost <= 1)})", flush=True)


def reload(folder, times=10):
    def once():
        model = buoy.load(folder, device="cuda")
        model.generate(PROMPT[:64], max_new_tokens=8, steps=2, observe="received,residual-norms,lens,predictions")
    once()  # kernels are loaded at their first use and stay
    gc.collect()
    before = CARD.used()
    took = [seconds(once) for _ in range(times)]
    left = CARD.used() - before
    print(f"{times} loads and deletions, {statistics.median(took):.2f} s each: {left / 2**20:+.1f} MiB on the card "
          f"(limit {SLACK / 2**20:.0f} MiB: {verdict(abs(left) <= SLACK)})", flush=True)


def views(folder):
    """A tensor of PyTorch on the numbers of a cache takes no memory."""
    try:
        import torch
    except ImportError:
        print("DLPack on the card: not measured, no torch")
        return
    model = buoy.load(folder, device="cuda")
    _, cache = model.run_with_cache(PROMPT, names="blocks.*.hook_resid_post")
    torch.zeros(1, device="cuda")
    before = CARD.used()
    tensors = [torch.from_dlpack(cache["resid_post", layer]) for layer in range(model.n_layers)]
    left = CARD.used() - before
    size = sum(t.numel() * 4 for t in tensors)
    shared = all(t.is_cuda and t.data_ptr() == torch.from_dlpack(cache["resid_post", n]).data_ptr() for n, t in enumerate(tensors))
    print(f"DLPack: {size / 2**20:.0f} MiB of states as tensors on the card take {left / 2**20:+.1f} MiB "
          f"(limit 0: {verdict(abs(left) <= SLACK and shared)})", flush=True)


def main():
    if CARD is None:
        sys.exit("expected an NVIDIA GPU and a package built with CUDA, found none")
    folder = sys.argv[1]
    model = buoy.load(folder, device="cuda")
    drive(model)
    del model
    reload(folder)
    views(folder)


if __name__ == "__main__":
    main()
