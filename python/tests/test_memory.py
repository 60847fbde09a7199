"""Memory comes back, and driving a loop from Python costs little."""

import ctypes
import gc
import os
import time
import weakref

import numpy as np
import pytest

import buoy
from conftest import PROMPT, ROOT


class _HeapInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


def in_use():
    """Bytes of the heap that somebody holds. What a process keeps resident is more: gaps that no run fills exactly."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = _HeapInfo
    gc.collect()
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def maps(file):
    with open("/proc/self/maps", encoding="utf-8") as lines:
        return sum(str(file) in line for line in lines)


def test_ten_loads_and_deletions_leave_memory_where_it_was():
    def one():
        model = buoy.load(ROOT / "models/planted-diffusion", device="cpu")
        run = model.generate(PROMPT, max_new_tokens=8, observe="received")
        loop = model.steps(PROMPT, max_new_tokens=8, observe="received")
        for _ in loop:
            pass
        return run["received"].nbytes

    weights = ROOT / "models/planted-diffusion/model.safetensors"
    size = one()
    before, mapped = in_use(), maps(weights)
    for _ in range(10):
        one()
    assert in_use() - before < size, "one array would be more"
    assert maps(weights) == mapped


@pytest.mark.parametrize("use", [
    lambda m: m.generate(PROMPT, max_new_tokens=8, observe="received"),
    lambda m: m.generate(PROMPT, max_new_tokens=8, on_step=lambda step: step.text),
    lambda m: [step.previous for step in m.steps(PROMPT, max_new_tokens=8, observe="received")][0],
    lambda m: next(iter(m.steps(PROMPT, max_new_tokens=8))).branch(),
    lambda m: m.run_with_cache(PROMPT, names="blocks.*.hook_resid_post"),
    lambda m: m.score(PROMPT, " Emirex"),
], ids=["generate", "callback", "loop", "branch", "cache", "score"])
def test_the_last_reference_frees_a_model(use):
    """At once, not when Python next looks for rings of objects: a card may be full until then."""
    gc.collect()
    gc.disable()
    try:
        model = buoy.load(ROOT / "models/planted-diffusion", device="cpu")
        ends = weakref.ref(model)
        result = use(model)
        del result, model
        assert ends() is None
    finally:
        gc.enable()


def test_runs_are_freed(tiny_diffusion):
    def one():
        run = tiny_diffusion.generate([5] * 100, max_new_tokens=64, steps=8, observe="dense,qk", allow_long=True)
        return sum(run[name].nbytes for name in run)

    size = one()
    before = in_use()
    for _ in range(5):
        one()
    assert size > 1 << 20 and in_use() - before < size / 10


@pytest.mark.skipif("BUOY_TIMING" not in os.environ, reason="measures time: set BUOY_TIMING on a quiet machine")
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
