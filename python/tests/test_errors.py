"""Every refusal is an exception of one family, with where, expected and found."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import buoy
from conftest import GOLDENS, PROMPT, ROOT


def test_folders_that_are_no_models(tmp_path):
    with pytest.raises(buoy.InputError) as error:
        buoy.load(tmp_path)
    assert error.value.where and error.value.expected and error.value.found
    assert isinstance(error.value, buoy.Error)
    with pytest.raises(buoy.Error):
        buoy.load("nobody/nothing")
    with pytest.raises(buoy.UsageError, match="device"):
        buoy.load(GOLDENS / "llada-f32", device="tpu")
    with pytest.raises(buoy.UsageError, match="threads"):
        buoy.load(GOLDENS / "llada-f32", threads=-1)


@pytest.mark.parametrize("options, where", [
    ({"max_new_tokens": 0}, "`max_new_tokens`"), ({"max_new_tokens": "many"}, "`max_new_tokens`"),
    ({"max_new_tokens": 2.5}, "`max_new_tokens`"), ({"max_new_tokens": True}, "`max_new_tokens`"),
    ({"max_new_tokens": 2**40}, "`max_new_tokens`"), ({"seed": -1}, "`seed`"), ({"temperature": -1}, "`temperature`"),
    ({"temperature": "hot"}, "`temperature`"), ({"algorithm": "best"}, "`algorithm`"), ({"top_k": 5}, "`top_k`"),
    ({"observe": "everything"}, "`observe`"), ({"observe": 5}, "`observe`"), ({"layers": "9-x"}, "`layers`"),
    ({"mask_token": 10**6}, "`mask_token`"), ({"no_such_option": 1}, "`no_such_option`"), ({"block_length": 3}, "`block_length`"),
    ({"chat": "yes"}, "`chat`"), ({"eos_tokens": ["a"]}, "`eos_tokens`"),
])
def test_options(diffusion, options, where):
    with pytest.raises(buoy.UsageError) as error:
        diffusion.generate(PROMPT, **{"max_new_tokens": 4, "observe": "received", **options})
    assert where in error.value.where
    assert error.value.expected and error.value.found


@pytest.mark.parametrize("prompt", ["", [], [[1, 2], [3]], 5, None, np.ones((2, 2), dtype=int), np.ones(3), [-1], [10**6], [1.5]])
def test_prompts(diffusion, prompt):
    with pytest.raises(buoy.UsageError):
        diffusion.generate(prompt, max_new_tokens=4)


def test_a_chat_template_that_is_not_there(diffusion):
    with pytest.raises(buoy.Error, match="chat"):
        diffusion.generate(PROMPT, chat=True, max_new_tokens=4)


def test_a_model_without_a_tokenizer(tiny):
    with pytest.raises(buoy.Error, match="tokenizer"):
        tiny.generate("text", max_new_tokens=4)
    with pytest.raises(buoy.Error, match="tokenizer"):
        tiny.tokenizer


def test_arrays_of_the_wrong_shape_or_type(diffusion):
    for tokens in (np.ones((2, 3), dtype=int), np.ones(3), np.ones((1, 1, 3), dtype=int), [], [10**6]):
        with pytest.raises(buoy.UsageError):
            diffusion(tokens)
    with pytest.raises(buoy.UsageError):
        diffusion.score(PROMPT, "")


def test_callbacks_that_are_none(diffusion):
    with pytest.raises(buoy.UsageError, match="function"):
        diffusion.generate(PROMPT, on_step=5)
    with pytest.raises(buoy.UsageError, match="both"):
        diffusion.generate(PROMPT, on_step=print, rule=print)


def test_changes_that_are_none(diffusion, autoregressive):
    for options in ({}, {"scale_heads": {3: 0}}, {"scale_heads": {(99, 0): 0}}, {"scale_heads": {(0, 0): -1}},
                    {"scale_heads": {(0, 0): "off"}}, {"scale_keys": {"query": 0}, "layers": [99]}):
        with pytest.raises(buoy.UsageError):
            with diffusion.changed(**options):
                pass
    with pytest.raises(buoy.UsageError, match="steps"):
        with autoregressive.changed(scale_heads={(0, 0): 0}, steps=[0]):
            pass
    with diffusion.changed(scale_keys={"no such region": 0}):
        with pytest.raises(buoy.UsageError, match="region"):
            diffusion.generate(PROMPT, max_new_tokens=4)
    assert diffusion.generate(PROMPT, max_new_tokens=4)


def test_names_that_are_none(diffusion):
    run = diffusion.generate(PROMPT, max_new_tokens=4)
    with pytest.raises(KeyError, match="received"):
        run["received"]
    with pytest.raises(AttributeError):
        run.nothing
    with pytest.raises(buoy.UsageError, match="observed"):
        run.save("nowhere")
    with pytest.raises(AttributeError, match="absorption"):
        buoy.analyze.nothing


def test_traces_that_are_none(tmp_path):
    with pytest.raises(buoy.Error):
        buoy.open(tmp_path)
    with pytest.raises(buoy.Error):
        buoy.analyze.absorption(tmp_path)
    with pytest.raises(buoy.UsageError):
        buoy.analyze.absorption(5)


def test_a_full_folder(diffusion, tmp_path):
    run = diffusion.generate(PROMPT, max_new_tokens=4, observe="received")
    run.save(tmp_path / "trace")
    with pytest.raises(buoy.Error):
        run.save(tmp_path / "trace")


def interrupt_soon():
    threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()


def test_a_keyboard_interrupt_ends_a_run(diffusion):
    interrupt_soon()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        diffusion.generate([5] * 200, max_new_tokens=512, observe="received,entropy,qk", allow_long=True)
    assert time.monotonic() - begun < 20
    assert diffusion.generate(PROMPT, max_new_tokens=8).text


def test_a_keyboard_interrupt_ends_a_loop(diffusion):
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            for _ in diffusion.steps(PROMPT, max_new_tokens=64):
                pass


def test_the_gil_is_released(diffusion):
    counted, running = 0, True

    def count():
        nonlocal counted
        while running:
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    begun = time.monotonic()
    diffusion.generate(PROMPT, max_new_tokens=64, observe="received")
    seconds = time.monotonic() - begun
    running = False
    thread.join()
    assert counted > 50 * seconds


def test_a_fork_is_refused(diffusion):
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            diffusion.generate(PROMPT, max_new_tokens=2)
            os.write(writable, b"ran")
        except buoy.UsageError as error:
            os.write(writable, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert b"fork" in os.read(readable, 1000)
