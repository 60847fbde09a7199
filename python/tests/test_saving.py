"""Runs that were driven from Python are saved as traces: what is loaded is what was saved, and the program reads it."""

import json

import numpy as np
import pytest

import buoy
from conftest import PROMPT

IDS = [5, 6, 7, 8] * 4
OBSERVE = "received,entropy,predictions,residual-norms"


def require_equal(stored, run):
    assert sorted(stored.keys()) == sorted(run.keys())
    for name in run.keys():
        assert stored[name].dims == run[name].dims and stored[name].dtype == run[name].dtype, name
        np.testing.assert_array_equal(stored[name], run[name], err_msg=name)
    own = {key: text for key, text in stored.metadata.items() if key not in ("format", "version")}   # of the file
    assert dict(own, id=stored.id) == dict(run.metadata)


def driven(model, body, **options):
    loop = model.steps(IDS, **{"max_new_tokens": 6, "observe": OBSERVE, **options})
    for step in loop:
        body(step)
    return loop.run


def test_a_loop_that_is_left_alone_has_the_bytes_of_generate(tiny, tmp_path):
    model, options = tiny, {"max_new_tokens": 6, "observe": OBSERVE, "predicted_tokens": 3}
    model.generate(IDS, **options).save(tmp_path / "whole")
    driven(model, lambda step: None, **options).save(tmp_path / "driven")
    whole, loop = ((tmp_path / one / "samples/prompt.safetensors").read_bytes() for one in ("whole", "driven"))
    assert whole == loop
    manifests = [json.loads((tmp_path / one / "manifest.json").read_text()) for one in ("whole", "driven")]
    assert manifests[0] == manifests[1]


def test_choices_changes_and_steps_taken_back_are_saved(tiny_diffusion, program, tmp_path):
    def drive(step):
        if step.index == 0:
            step.scale_heads({(0, 0): 0})
            step.reveal(step.masked[:3])
        elif step.index == 1:
            step.remask([step.row.size - 6])
        else:
            step.reveal(step.masked[-1:])

    run = driven(tiny_diffusion, drive, steps=9)
    run.save(tmp_path / "trace")
    with buoy.open(tmp_path / "trace") as trace:
        assert trace.complete and trace.verify() == []
        require_equal(trace[0], run)
        said, = trace.manifest["probe"]["changes"]
        assert said == f"driven from Python: tokens chosen in {len(run['steps']) - 1} of {len(run['steps']) - 1} steps, the model changed in 1"
    tables = buoy.analyze.drift(tmp_path / "trace")
    program("analyze", "drift", tmp_path / "trace", "--out", tmp_path / "theirs")
    for table in tables:
        assert len((tmp_path / f"theirs/tables/{table.name}.csv").read_text().splitlines()) == len(table) + 1
    assert "driven from Python" in program("inspect", tmp_path / "trace")


def test_a_driven_autoregressive_run(autoregressive, program, tmp_path):
    loop = autoregressive.steps(PROMPT, max_new_tokens=4, observe="received,entropy")
    for step in loop:
        step.choose(" Group")
    loop.run.save(tmp_path / "trace")
    with buoy.open(tmp_path / "trace") as trace:
        require_equal(trace[0], loop.run)
        assert trace[0].text == " Group" * 4
    assert "planted-autoregressive" in program("analyze", "absorption", tmp_path / "trace")


def test_a_loop_that_stopped_early(diffusion, tmp_path):
    loop = diffusion.steps(PROMPT, max_new_tokens=8, observe="received")
    for step in loop:
        if step.index == 3:
            step.stop()
    run = loop.run
    assert run["steps"].tolist() == [0, 1, 2, 3]      # three steps, and a look at what they left
    assert (run["tokens"] == diffusion.mask_token).sum() == 5
    run.save(tmp_path / "trace")
    require_equal(buoy.open(tmp_path / "trace")[0], run)
    assert buoy.analyze.absorption(tmp_path / "trace")["absorption_by_layer"].rows


def test_steps_that_nobody_observed_are_not_there(diffusion, tmp_path):
    """Whoever looks late finds the numbers of the steps that were seen."""
    loop = diffusion.steps(PROMPT, max_new_tokens=8)
    for step in loop:
        if step.index == 4:
            assert step.previous.received.dims == ("layer", "group", "head", "token")
    run = loop.run
    assert run["steps"].tolist() == [3, 4, 5, 6, 7, 8]
    watched = diffusion.generate(PROMPT, max_new_tokens=8, observe="received")
    np.testing.assert_array_equal(run["received"], watched["received"][3:])
    run.save(tmp_path / "trace")
    require_equal(buoy.open(tmp_path / "trace")[0], run)


def test_branches_are_saved_apart(tiny_diffusion, tmp_path):
    loop = tiny_diffusion.steps(IDS, max_new_tokens=4, observe="received")
    for step in loop:
        if step.index == 1:
            other = step.branch()
            step.reveal({int(p): 11 for p in step.masked})
    for step in other:
        step.reveal({int(p): 12 for p in step.masked})
    for name, one in (("a", loop.run), ("b", other.run)):
        one.save(tmp_path / name)
        require_equal(buoy.open(tmp_path / name)[0], one)
    assert loop.run.ids.tolist() != other.run.ids.tolist()


def test_what_cannot_be_saved(diffusion, tmp_path):
    loop = diffusion.steps(PROMPT, max_new_tokens=4)
    for _ in loop:
        pass
    with pytest.raises(buoy.UsageError) as error:
        loop.run.save(tmp_path / "trace")
    assert "observe" in error.value.expected and not (tmp_path / "trace").exists()


def test_runs_live_without_their_model(tmp_path):
    model = buoy.load(buoy.example_model("planted-diffusion"), device="cpu")
    loop = model.steps(PROMPT, max_new_tokens=4, observe="received")
    for _ in loop:
        pass
    run = loop.run
    del model, loop, _
    run.save(tmp_path / "trace")
    require_equal(buoy.open(tmp_path / "trace")[0], run)
