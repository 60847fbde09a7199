"""Models on a card: memory that comes back, arrays that stay there, forks. Skipped without a card, or by a package that was
built without the backend. Where there is no pytest it runs as a script:

    BUOY_PACKAGE=build/cuda-python/python python3 python/tests/test_cuda.py
"""

import ctypes
import gc
import os
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("BUOY_PACKAGE", str(ROOT / "build/python/python")))
import buoy  # noqa: E402
from buoy._native import native  # noqa: E402

try:
    import pytest
except ImportError:
    pytest = None

MODEL = ROOT / "models/planted-diffusion"
PROMPT = "Question: Who employs Klados Hebwick?\nAnswer:"
SLACK = 4 << 20  # the driver gives memory back by pages of 2 MiB


class Card:
    """The first card, as its driver sees it; no library of Buoy or PyTorch has a part in it."""

    def __init__(self):
        self._driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if self._driver.cuInit(0) != 0 or self._driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
            raise OSError("no card")
        self._context = None

    def used(self):
        """Bytes that all processes hold."""
        gc.collect()
        if self._context is None:
            self._context = ctypes.c_void_p()
            self._done(self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), 0))
        free, total, popped = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
        self._done(self._driver.cuCtxPushCurrent_v2(self._context))
        self._done(self._driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        self._done(self._driver.cuCtxPopCurrent_v2(ctypes.byref(popped)))
        return total.value - free.value

    @staticmethod
    def _done(status):
        if status != 0:
            raise OSError(f"the driver answers {status}")


def find_card():
    try:
        return Card() if native.has_cuda() else None
    except OSError:
        return None


CARD = find_card()
if pytest is not None:
    pytestmark = pytest.mark.skipif(CARD is None, reason="needs an NVIDIA GPU and a package built with CUDA")


def load():
    return buoy.load(MODEL, device="cuda")


def use(model):
    """Everything that takes memory: the two loops, what is observed, activations."""
    run = model.generate(PROMPT, max_new_tokens=8, observe="received,residual-norms,lens,predictions")
    for _ in model.steps(PROMPT, max_new_tokens=8, observe="received"):
        pass
    _, cache = model.run_with_cache(PROMPT, names="blocks.*.hook_resid_post")
    return run, cache


def test_del_frees_the_card():
    use(load())  # kernels are loaded at their first use and stay
    before = CARD.used()
    model = load()
    loaded = CARD.used()
    assert loaded - before > 1 << 20
    kept = use(model)
    del model
    assert CARD.used() < (before + loaded) / 2, "what was measured does not hold the model"
    del kept
    assert abs(CARD.used() - before) <= SLACK


def test_ten_loads_and_deletions_leave_the_card_where_it_was():
    for _ in range(2):  # at the second use of a kind the driver takes room for graphs, which it keeps
        use(load())
    before = CARD.used()
    for _ in range(10):
        use(load())
    assert CARD.used() == before, f"{before} bytes before, {CARD.used()} after ten loads"


def test_a_loop_in_python_is_the_programs_own():
    model = load()
    own = model.generate(PROMPT, max_new_tokens=16)
    driven = model.generate(PROMPT, max_new_tokens=16, on_step=lambda step: None)
    assert own.text == driven.text
    np.testing.assert_array_equal(own["tokens"], driven["tokens"])
    np.testing.assert_array_equal(own["revealed_at"], driven["revealed_at"])


def test_states_stay_on_the_card():
    if pytest is not None:
        torch = pytest.importorskip("torch", reason="torch is not needed by buoy; where it is, it takes its arrays")
    else:
        import torch
    model = load()
    _, cache = model.run_with_cache(PROMPT, names=["blocks.*.hook_resid_pre", "blocks.*.hook_resid_post", "blocks.0.attn.hook_z"])
    torch.zeros(1, device="cuda")
    before = CARD.used()
    for name in ("resid_pre", "resid_post"):
        states = cache[name, -1]
        assert states.__dlpack_device__() == (2, 0)
        tensor = torch.from_dlpack(states)
        assert tensor.is_cuda and tensor.dtype == torch.float32 and tuple(tensor.shape) == states.shape
        assert tensor.data_ptr() == torch.from_dlpack(cache[name, -1]).data_ptr(), "no copy"
        np.testing.assert_array_equal(tensor.cpu().numpy(), np.asarray(states))
    assert CARD.used() - before < SLACK
    host = np.array(states)
    del cache, states, model
    gc.collect()
    np.testing.assert_array_equal(tensor.cpu().numpy(), host, err_msg="the tensor keeps what it shows")


def test_what_is_not_on_the_card_is_handed_on_from_the_host():
    model = load()
    _, cache = model.run_with_cache(PROMPT, names=["blocks.0.attn.hook_z", "blocks.0.hook_resid_post"])
    assert cache["z", 0].__dlpack_device__() == (1, 0)
    part = cache["resid_post", 0][1:]
    assert part.__dlpack_device__() == (1, 0), "a part of it is the host's"
    assert np.from_dlpack(part).ctypes.data == part.ctypes.data


def wait_for(child, seconds):
    """Its exit code; None and its end when it takes longer."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def test_a_fork_after_loading_is_refused():
    model = load()
    expected = model.generate(PROMPT, max_new_tokens=4).text
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            model.generate(PROMPT, max_new_tokens=4)
        except buoy.UsageError as error:
            os.write(writable, str(error).encode())
            del model  # neither waits for threads that the fork has not, nor frees what is the parent's
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    os.close(writable)
    assert wait_for(child, 60) == 0
    said = os.read(readable, 1000).decode()
    os.close(readable)
    assert "fork" in said and "spawn" in said, said
    assert model.generate(PROMPT, max_new_tokens=4).text == expected, "the parent goes on"


def main():
    if CARD is None:
        print("skipped: needs an NVIDIA GPU and a package built with CUDA")
        return 0
    failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"{name}: passed", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += not isinstance(error, ImportError)
            print(f"{name}: {'skipped' if isinstance(error, ImportError) else 'FAILED'}: {type(error).__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
