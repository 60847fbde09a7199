"""Memory comes back, and driving a loop from Python costs little."""

import gc
import time

import numpy as np
import pytest

import buoy
from conftest import PROMPT, ROOT


def resident():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


def test_ten_loads_and_deletions_leave_memory_where_it_was():
    def one():
        model = buoy.load(ROOT / "models/pair-diffusion", device="cpu")
        run = model.generate(PROMPT, max_new_tokens=8, observe="received")
        loop = model.steps(PROMPT, max_new_tokens=8, observe="received")
        for _ in loop:
            pass
        return run["received"].nbytes

    for _ in range(3):
        one()
    gc.collect()
    before = resident()
    for _ in range(10):
        one()
    gc.collect()
    weights = (ROOT / "models/pair-diffusion/model.safetensors").stat().st_size
    assert resident() - before < weights, "a model that was deleted is still there"


def test_runs_are_freed(tiny_diffusion):
    def one():
        run = tiny_diffusion.generate([5] * 100, max_new_tokens=64, steps=8, observe="dense,qk", allow_long=True)
        return sum(run[name].nbytes for name in run)

    for _ in range(3):
        size = one()
    before = resident()
    for _ in range(20):
        one()
    gc.collect()
    assert size > 1 << 20 and resident() - before < 5 * size


@pytest.mark.skipif("not config.getoption('--timing', default=False)")
def test_an_empty_callback_costs_at_most_a_twentieth(diffusion):
    def seconds(**options):
        begun = time.perf_counter()
        diffusion.generate(PROMPT, max_new_tokens=64, **options)
        return time.perf_counter() - begun

    plain, driven = [], []
    for _ in range(9):
        plain.append(seconds())
        driven.append(seconds(on_step=lambda step: None))
    assert np.median(driven) < 1.05 * np.median(plain)
