"""The loop in one's own hands: choose, take back, change, go back, branch, a rule of one's own."""

import threading

import numpy as np
import pytest

import buoy
from conftest import PROMPT

IDS = [5, 6, 7, 8]


def masks(step, model):
    return [p for p, id in enumerate(step.row.tolist()) if id == model.mask_token]


@pytest.mark.parametrize("options", [{}, {"temperature": 0.9, "seed": 5}])
def test_left_alone_it_is_the_models_own_loop(tiny, options):
    expected = tiny.generate(IDS, max_new_tokens=6, **options)
    loop = tiny.steps(IDS, max_new_tokens=6, **options)
    numbers = [step.index for step in loop]
    assert numbers == list(range(len(numbers)))
    assert loop.run.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(loop.run.revealed_at, expected.revealed_at)
    driven = tiny.generate(IDS, max_new_tokens=6, on_step=lambda step: None, **options)
    assert driven.ids.tolist() == expected.ids.tolist()


def test_what_the_steps_show_is_what_a_watched_run_shows(tiny_diffusion):
    watched = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="received,entropy,dense")
    loop = tiny_diffusion.steps(IDS, max_new_tokens=6, observe="received,entropy,dense")
    for step in loop:
        np.testing.assert_array_equal(step["received"], watched["received"][step.index])
        assert step.received.dims == ("layer", "group", "head", "token")
        np.testing.assert_array_equal(step["dense_step0_layer1"], watched[f"dense_step{step.index}_layer1"])
    for name in watched.keys():
        np.testing.assert_array_equal(loop.run[name], watched[name], err_msg=name)
        assert loop.run[name].dims == watched[name].dims


def test_an_autoregressive_row_is_observed_at_its_end(autoregressive):
    watched = autoregressive.generate(PROMPT, max_new_tokens=6, observe="received")
    driven = autoregressive.generate(PROMPT, max_new_tokens=6, observe="received", on_step=lambda step: None)
    np.testing.assert_array_equal(driven["received"], watched["received"])


def test_confidence_and_reveal(tiny_diffusion):
    loop = tiny_diffusion.steps(IDS, max_new_tokens=6)
    order = []
    for step in loop:
        assert step.masked.tolist() == masks(step, tiny_diffusion)
        assert step.confidence.shape == (10,) and step.confidence[:4].max() == 0
        logits = np.asarray(step.logits, dtype="f8")
        probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(step.confidence[step.masked], probabilities.max(axis=1), rtol=1e-5)
        assert step.best[step.masked].tolist() == logits.argmax(axis=1).tolist()
        leftmost = step.masked[:2].tolist()
        order.append([(p, int(step.best[p])) for p in leftmost])
        step.reveal(leftmost)
    run = loop.run
    assert len(order) == 3  # it ends when no mask is left
    for number, chosen in enumerate(order):
        for position, token in chosen:
            if token != tiny_diffusion.mask_token:
                assert run["tokens"][position] == token and run.revealed_at[position] == number


def test_tokens_of_ones_own(tiny_diffusion, tiny):
    loop = tiny_diffusion.steps(IDS, max_new_tokens=4)
    for step in loop:
        step.reveal({p: 20 + p for p in step.masked.tolist()})
    assert loop.run.ids.tolist() == [24, 25, 26, 27]
    if not tiny.is_diffusion:
        loop = tiny.steps(IDS, max_new_tokens=3)
        for step in loop:
            step.choose(9)
        assert loop.run.ids.tolist() == [9, 9, 9]


def test_a_text_as_token(diffusion):
    loop = diffusion.steps(PROMPT, max_new_tokens=4)
    token = diffusion.to_str_tokens("Klados", prepend_bos=False)[0]
    for step in loop:
        step.choose({int(step.masked[0]): token})
    assert loop.run.token_texts[-4:] == [token] * 4


def test_remask(tiny_diffusion):
    loop = tiny_diffusion.steps(IDS, max_new_tokens=4, steps=8)
    for step in loop:
        if step.index == 0:
            step.reveal([4, 5])
        elif step.index == 1:
            assert step.masked.tolist() == [6, 7]
            step.remask([5])
        elif step.index == 2:
            assert step.masked.tolist() == [5, 6, 7]
            step.skip()
        else:
            step.reveal({int(step.masked[0]): 11})
    assert loop.run.revealed_at.tolist()[4:] == [0, 3, 4, 5]


def test_nothing_revealed_is_nothing(tiny_diffusion):
    loop = tiny_diffusion.steps(IDS, max_new_tokens=4, steps=8)
    for step in loop:
        step.reveal([] if step.index < 2 else step.masked)
    assert loop.run.revealed_at.tolist()[4:] == [2] * 4


def test_taking_back_of_an_autoregressive_row(autoregressive):
    expected = autoregressive.generate(PROMPT, max_new_tokens=6, eos_tokens=[0]).ids.tolist()
    loop = autoregressive.steps(PROMPT, max_new_tokens=7, eos_tokens=[0])
    for step in loop:
        if step.index == 3:
            step.remask([len(step.row) - 2])
    # two tokens were taken back in one step; what followed is what had been there.
    assert loop.run.ids.tolist() == expected[:4]


def test_going_back_and_branching(tiny):
    options = {"max_new_tokens": 6, "temperature": 1.0, "seed": 2, "eos_tokens": [0]}
    expected = tiny.generate(IDS, **options)
    loop = tiny.steps(IDS, **options)
    went_back = False
    rows = {}
    for step in loop:
        if step.index not in rows:
            rows[step.index] = step.row.tolist()
        assert step.row.tolist() == rows[step.index]
        if step.index == 1:
            other = step.branch()
        if step.index == 4 and not went_back:
            went_back = True
            step.back_to(1)
    assert went_back
    assert loop.run.ids.tolist() == expected.ids.tolist()
    for step in other:
        pass
    assert other.run.ids.tolist() == expected.ids.tolist()
    with pytest.raises(buoy.UsageError, match="step"):
        for step in tiny.steps(IDS, max_new_tokens=6):
            step.back_to(3)


def test_branches_go_their_own_way(tiny_diffusion):
    for step in tiny_diffusion.steps(IDS, max_new_tokens=4):
        other = step.branch()
        break
    for step in other:
        step.reveal({p: 12 for p in step.masked.tolist()})
    assert other.run.ids.tolist() == [12] * 4


def hide_last_sinks(step):
    if step.index:
        step.scale_keys(step.previous.received.topk(5, per="head"), 0.0)


def test_hiding_the_sinks_of_the_step_before(tiny_diffusion):
    observed = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="received", on_step=hide_last_sinks)
    lazily = tiny_diffusion.generate(IDS, max_new_tokens=6, on_step=hide_last_sinks)
    assert observed.ids.tolist() == lazily.ids.tolist()
    received = observed["received"]
    for step in range(1, 6):
        hidden = received[step - 1].topk(5, per="head")
        now = np.asarray(received[step].sum("group"))
        for layer, head in np.ndindex(hidden.shape[:2]):
            assert now[layer, head, np.asarray(hidden[layer, head])].max() == 0
            assert now[layer, head].sum() == pytest.approx(10, rel=1e-5)


def test_changes_come_before_the_forward(tiny_diffusion):
    for step in tiny_diffusion.steps(IDS, max_new_tokens=4):
        step.confidence
        with pytest.raises(buoy.UsageError, match="forward"):
            step.scale_heads({(0, 0): 0})
        break
    for step in tiny_diffusion.steps(IDS, max_new_tokens=4):
        with pytest.raises(buoy.UsageError, match="head"):
            step.scale_heads({(0, 99): 0})
        with pytest.raises(buoy.UsageError, match="key"):
            step.scale_keys([99], 0)
        with pytest.raises(buoy.UsageError, match="keys"):
            step.scale_keys(np.ones((2, 2)), 0)
        break


def test_heads_of_a_step_are_those_of_changed(tiny_diffusion):
    with tiny_diffusion.changed(scale_heads={(1, 0): 0, (0, 2): 0.5}, steps=[1, 2]):
        changed = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="entropy")

    def change(step):
        if step.index in (1, 2):
            step.scale_heads({(1, 0): 0, (0, 2): 0.5})

    driven = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="entropy", on_step=change)
    np.testing.assert_array_equal(driven["entropy"], changed["entropy"])
    plain = tiny_diffusion.generate(IDS, max_new_tokens=6, observe="entropy")
    np.testing.assert_array_equal(plain["entropy"][0], changed["entropy"][0])
    assert not np.array_equal(plain["entropy"][1], changed["entropy"][1])


def test_a_callback_that_raises_ends_the_run(diffusion):
    def fail(step):
        if step.index == 2:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        diffusion.generate(PROMPT, max_new_tokens=8, on_step=fail)
    assert diffusion.generate(PROMPT, max_new_tokens=8).text


def test_a_callback_that_raises_ends_an_evaluation_and_a_loop(diffusion, questions):
    """Threads and the next call find the model as it was."""
    asked = {"template": "models/planted.prompt", "max_new_tokens": 8, "limit": 3}
    before = diffusion.evaluate(questions, **asked).lines
    calls = []

    def fail(step):
        calls.append(step)
        step.scale_heads({(0, 0): 0})
        if len(calls) == 11:
            raise RuntimeError("mine")

    for option in ("on_step", "rule"):
        calls.clear()
        with pytest.raises(RuntimeError, match="mine"):
            diffusion.evaluate(questions, **{option: fail}, **asked)
        assert len(calls) == 11
    with pytest.raises(RuntimeError, match="mine"):
        for step in diffusion.steps(PROMPT, max_new_tokens=8):
            step.scale_heads({(0, 0): 0})
            raise RuntimeError("mine")
    assert diffusion.evaluate(questions, **asked).lines == before


def test_changes_of_a_thread_are_its_own(diffusion):
    plain, found = diffusion.generate(PROMPT, max_new_tokens=8, observe="entropy")["entropy"], {}
    ready, done = threading.Event(), threading.Event()

    def other():
        ready.wait(30)
        found["other"] = diffusion.generate(PROMPT, max_new_tokens=8, observe="entropy")["entropy"]
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with diffusion.changed(scale_heads={(0, 0): 0}):
        ready.set()
        found["own"] = diffusion.generate(PROMPT, max_new_tokens=8, observe="entropy")["entropy"]
        assert done.wait(60)
    thread.join()
    np.testing.assert_array_equal(found["other"], plain)
    assert not np.array_equal(found["own"], plain)


def test_a_rule_of_ones_own_is_evaluated_like_a_built_in_one(diffusion, questions):
    def most_confident(step):
        step.reveal([int(step.confidence.argmax())])

    built_in = diffusion.evaluate(questions, template="models/planted.prompt", max_new_tokens=8, limit=4)
    own = diffusion.evaluate(questions, template="models/planted.prompt", max_new_tokens=8, limit=4, rule=most_confident)
    assert own.lines == built_in.lines


def test_steps_that_were_taken_are_closed(tiny_diffusion):
    kept = []
    for step in tiny_diffusion.steps(IDS, max_new_tokens=3):
        kept.append(step)
    with pytest.raises(buoy.UsageError, match="taken"):
        kept[0].reveal([5])


def test_wrong_edits(tiny_diffusion, tiny):
    for edit in ({0: 5}, {99: 5}, {4: 10**6}, {4: -7}):
        with pytest.raises(buoy.UsageError):
            for step in tiny_diffusion.steps(IDS, max_new_tokens=3):
                step.reveal(edit)
    with pytest.raises(buoy.UsageError, match="waits"):
        for step in tiny_diffusion.steps(IDS, max_new_tokens=3):
            step.reveal([0])
    if not tiny.is_diffusion:
        with pytest.raises(buoy.UsageError):
            for step in tiny.steps(IDS, max_new_tokens=3):
                step.reveal({9: 5})
