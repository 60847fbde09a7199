"""Arrays go to other libraries without a copy, by DLPack."""

import gc

import numpy as np
import pytest

from conftest import PROMPT


def test_arrays_are_handed_on_without_a_copy(diffusion):
    run = diffusion.generate(PROMPT, max_new_tokens=8, observe="received")
    received = run["received"]
    other = np.from_dlpack(received)
    assert other.ctypes.data == received.ctypes.data
    copy = np.array(received)
    del run, received
    gc.collect()
    np.testing.assert_array_equal(other, copy)


def test_torch_takes_them(diffusion):
    torch = pytest.importorskip("torch", reason="torch is not needed by buoy; where it is, it takes its arrays")
    _, cache = diffusion.run_with_cache(PROMPT, names=["blocks.0.attn.hook_pattern"])
    pattern = cache["pattern", 0]
    tensor = torch.from_dlpack(pattern)
    assert tensor.data_ptr() == pattern.ctypes.data and tuple(tensor.shape) == pattern.shape
