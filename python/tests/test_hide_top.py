"""Keys that received most in the step before, hidden: as the program does it, and what is refused."""

import json

import numpy as np
import pytest

import buoy
from conftest import PROMPT, ROOT

IDS = [5, 6, 7, 8, 9, 10, 11]


def of_program(program, model, *options):
    out = program("generate", "--model", model.folder, "--ids", ",".join(map(str, IDS)), "--max-new-tokens", 6, "--json",
                  "--device", "cpu", *options)
    return json.loads(out)["ids"]


def generated(model, **hide):
    with model.changed(**hide):
        return model.generate(IDS, max_new_tokens=6)


@pytest.mark.parametrize("hide, options", [
    ({"hide_top": 2}, ["--hide-top", "2"]),
    ({"hide_top": 2, "layers": [1]}, ["--hide-top", "2@1"]),
    ({"hide_top": "1@0.1=0.25"}, ["--hide-top", "1@0.1=0.25"]),
    ({"hide_top": "2=0.1", "layers": [0], "hide_control": "mass"}, ["--hide-top", "2@0=0.1", "--hide-control", "mass"]),
    ({"hide_top": 3, "hide_of": "rule:top_1"}, ["--hide-top", "3", "--hide-top-of", "rule:top_1"]),
])
def test_what_is_written_is_what_the_program_writes(tiny, program, hide, options):
    hide = {"hide_top_of" if name == "hide_of" else name: value for name, value in hide.items()}
    assert generated(tiny, **hide).ids.tolist() == of_program(program, tiny, *options)


def test_it_holds_in_the_block_alone_and_no_keys_change_nothing(tiny):
    plain = tiny.generate(IDS, max_new_tokens=6)
    assert generated(tiny, hide_top=0).ids.tolist() == plain.ids.tolist()
    changed = [generated(tiny, hide_top=keys).ids.tolist() for keys in (1, 3, 5)]
    assert any(ids != plain.ids.tolist() for ids in changed)
    assert tiny.generate(IDS, max_new_tokens=6).ids.tolist() == plain.ids.tolist()


def test_watched_it_hides_what_the_step_before_says(tiny_diffusion):
    with tiny_diffusion.changed(hide_top=2):
        run = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="received")
    assert run.ids.tolist() == generated(tiny_diffusion, hide_top=2).ids.tolist()
    received = np.asarray(run["received"]).sum(axis=2)  # over the groups of queries
    assert (received[0] > 0).all()
    for before, now in zip(received, received[1:]):
        # Keys that were hidden themselves receive nothing, and are free.
        top = np.argsort(-before, axis=-1, kind="stable")[..., :2]
        hidden = np.zeros(now.shape, dtype=bool)
        np.put_along_axis(hidden, top, True, axis=-1)
        np.testing.assert_array_equal(now == 0, hidden)


def test_blocks_that_are_watched_are_those_that_are_not():
    m = buoy.load(ROOT / "tests/data/families/sdar-f32", device="cpu")
    options = {"max_new_tokens": 12, "mask_token": 75}
    with m.changed(hide_top=2):
        alone = m.generate(IDS, **options)
        watched = m.generate(IDS, observe="received", **options)
    # Who is watched shows the last block as a whole.
    assert alone.ids.tolist() == watched.ids.tolist()[:len(alone.ids)]
    assert alone.ids.tolist() != m.generate(IDS, **options).ids.tolist()


def test_questions_are_evaluated_with_it(diffusion, questions):
    def asked():
        return [one["answer"] for one in diffusion.evaluate(questions, template=str(ROOT / "models/planted.prompt"), max_new_tokens=6)]

    def answers(**hide):
        with diffusion.changed(**hide):
            return asked()
    plain = asked()
    assert answers(hide_top=0) == plain
    assert answers(hide_top=12) != plain


@pytest.mark.parametrize("name, hide", [
    ("hide_top", {"hide_top": "x"}), ("hide_top", {"hide_top": -1}), ("hide_top", {"hide_top": 1.5}), ("hide_top", {"hide_top": True}),
    ("hide_top", {"hide_top": "1@0", "layers": [0]}), ("hide_top", {"hide_top": "1@99"}), ("hide_top", {"hide_top": "1@0.99"}),
    ("hide_top_of", {"hide_top": 1, "hide_top_of": "rule:none"}), ("hide_top_of", {"hide_top": 1, "hide_top_of": 3}),
    ("hide_top_of", {"hide_top_of": "step-before"}), ("hide_control", {"hide_top": 1, "hide_control": "others"}),
    ("hide_control", {"hide_control": "mass"}),
])
def test_what_cannot_be_said_is_refused_by_name(diffusion, name, hide):
    with pytest.raises(buoy.UsageError) as error:
        diffusion.changed(**hide).__enter__()
    assert f"`{name}`" in str(error.value)


def test_where_there_is_no_step_before_it_is_refused(diffusion, autoregressive, questions):
    def refused(name, call):
        with pytest.raises(buoy.UsageError) as error:
            call()
        assert f"`{name}`" in str(error.value), error.value
    with diffusion.changed(hide_top=1):
        refused("hide_top_of", lambda: diffusion(PROMPT))
        refused("hide_top", lambda: diffusion.steps(PROMPT, max_new_tokens=4))
        refused("hide_top", lambda: diffusion.generate(PROMPT, max_new_tokens=4, on_step=lambda step: None))
        with diffusion.changed(hide_top=2):
            refused("hide_top", lambda: diffusion.generate(PROMPT, max_new_tokens=4))
        assert len(diffusion.score(PROMPT, " Emirex Group", order="decoding")) > 1
        refused("hide_top", lambda: diffusion.evaluate(questions, on_step=lambda step: None, max_new_tokens=4))
    with diffusion.changed(hide_top=1, scale_mlps={0: 1}):
        refused("hide_top", lambda: diffusion.evaluate(questions, max_new_tokens=4))
    with diffusion.changed(hide_top="1/0"):
        refused("hide_top", lambda: diffusion.generate(PROMPT, max_new_tokens=4))
    with autoregressive.changed(hide_top=1):
        refused("hide_top_of", lambda: autoregressive.generate(PROMPT, max_new_tokens=4, observe="received"))
        assert len(autoregressive.generate(PROMPT, max_new_tokens=4).ids) > 0


def test_an_argument_of_a_call_is_refused(diffusion):
    with pytest.raises(buoy.UsageError) as error:
        diffusion.generate(PROMPT, max_new_tokens=4, hide_top=5)
    assert "`hide_top`" in str(error.value) and "m.changed" in str(error.value)
