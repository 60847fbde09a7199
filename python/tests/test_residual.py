"""The residual stream and predictions: what is read of them, the logit lens, steering and patching."""

import json

import numpy as np
import pytest

import buoy
from conftest import PROMPT

IDS = [5, 6, 7, 8, 9]
OBSERVE = "predictions,lens,residual-norms,residual,head-out"
NEW = ["predicted_confidence", "predicted_entropy", "predicted_margin", "predicted_tokens", "predicted_probabilities",
       "lens_tokens", "lens_probabilities", "residual_norm", "attention_out_norm", "mlp_out_norm", "residual_peak",
       "residual_peak_at", "residual_cosine", "residual_step0_layer1", "head_out_step0_layer0"]
POINTS = ["pre", "mid", "post"]


def softmax(values):
    out = np.exp(np.asarray(values, dtype="f8") - np.max(values, axis=-1, keepdims=True))
    return out / out.sum(axis=-1, keepdims=True)


# What is observed in a run.

def test_runs_have_the_bytes_of_the_programs_trace_and_names_of_axes(tiny, program, tmp_path):
    run = tiny.generate(IDS, max_new_tokens=4, observe=OBSERVE)
    run.save(tmp_path / "ours")
    program("trace", "--model", tiny.folder, "--ids", ",".join(map(str, IDS)), "--max-new-tokens", 4, "--observe", OBSERVE,
            "--device", "cpu", "--out", tmp_path / "theirs")
    ours, theirs = (next((tmp_path / folder / "samples").iterdir()).read_bytes() for folder in ("ours", "theirs"))
    assert ours == theirs
    with buoy.open(tmp_path / "theirs") as trace:
        for name in run.keys():
            assert not any(dim.startswith("axis_") for dim in run[name].dims), name
            assert trace[0][name].dims == run[name].dims
    assert set(NEW) <= set(run.keys())
    assert run["predicted_tokens"].dims == ("step", "answer", "rank")
    assert run["residual_step0_layer1"].dims == ("row", "d_model")


def test_the_loop_shows_what_a_watched_run_shows(tiny_diffusion):
    watched = tiny_diffusion.generate(IDS, max_new_tokens=6, observe=OBSERVE)
    loop = tiny_diffusion.steps(IDS, max_new_tokens=6, observe=OBSERVE)
    gone_back = False
    for step in loop:
        np.testing.assert_array_equal(step["residual_cosine"], watched["residual_cosine"][step.index])
        np.testing.assert_array_equal(step.predicted_entropy, watched["predicted_entropy"][step.index])
        if step.index == 4 and not gone_back:
            gone_back = True
            step.back_to(2)
    assert gone_back and sorted(loop.run.keys()) == sorted(watched.keys())
    for name in watched.keys():
        np.testing.assert_array_equal(loop.run[name], watched[name], err_msg=name)
    assert (watched["residual_cosine"][1:] < 1).any()


def test_a_step_that_is_observed_late_is_compared_with_the_one_before(tiny_diffusion):
    watched = tiny_diffusion.generate(IDS, max_new_tokens=4, observe="residual-norms")
    for step in tiny_diffusion.steps(IDS, max_new_tokens=4):
        if step.index:
            np.testing.assert_array_equal(step.previous.residual_cosine, watched["residual_cosine"][step.index - 1])


# One forward.

def test_a_cache_holds_what_the_forward_passes_through(tiny):
    logits, cache = tiny.run_with_cache(IDS, names="*")
    np.testing.assert_array_equal(tiny(IDS), logits)
    np.testing.assert_allclose(cache["resid_pre", 0], tiny.W_E[IDS], rtol=1e-6)
    for layer in range(tiny.n_layers):
        pre, mid, post = (np.asarray(cache[f"resid_{at}", layer], dtype="f8") for at in POINTS)
        np.testing.assert_allclose(mid, pre + cache["attn_out", layer], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(post, mid + cache["mlp_out", layer], rtol=1e-5, atol=1e-5)
        if layer:
            np.testing.assert_array_equal(cache["resid_pre", layer], cache["resid_post", layer - 1])
        shared = tiny.n_heads // tiny.config["n_kv_heads"]
        keys, values = (np.repeat(np.asarray(cache[name, layer], dtype="f8"), shared, axis=1) for name in ("rot_k", "v"))
        scores = np.einsum("qhd,khd->hqk", cache["rot_q", layer], keys) / np.sqrt(tiny.config["d_head"])
        if not tiny.is_diffusion:
            scores[:, np.triu(np.ones(scores.shape[1:], dtype=bool), 1)] = -np.inf
        np.testing.assert_allclose(cache["pattern", layer], softmax(scores), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cache["z", layer], np.einsum("hqk,khd->qhd", softmax(scores), values), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cache["result", layer].sum("head"), cache["attn_out", layer], rtol=1e-4, atol=1e-5)


def test_names_of_a_cache(tiny):
    _, cache = tiny.run_with_cache(IDS, names=["blocks.*.hook_resid_post", "blocks.1.attn.hook_z"])
    assert set(cache.keys()) == {f"blocks.{n}.hook_resid_post" for n in range(tiny.n_layers)} | {"blocks.1.attn.hook_z"}
    assert cache["resid_post", -1].dims == ("token", "d_model") and cache["z", 1].dims == ("token", "head", "d_head")
    np.testing.assert_array_equal(cache["resid_post", -1], cache[f"blocks.{tiny.n_layers - 1}.hook_resid_post"])
    assert ("resid_pre", 0) not in cache and ("resid_post", 0) in cache
    _, chosen = tiny.run_with_cache(IDS, names_filter=lambda name: name.endswith("hook_mlp_out"))
    assert chosen.keys() == [f"blocks.{layer}.hook_mlp_out" for layer in range(tiny.n_layers)]
    _, every = tiny.run_with_cache(IDS)
    assert ("resid_post", -1) in every and ("pattern", 0) in every and ("result", 0) not in every
    for name in ("blocks.0.attn.hook_q", "blocks.0.hook_nothing", "ln_final.hook_scale"):
        with pytest.raises(NotImplementedError, match="resid_post"):
            tiny.run_with_cache(IDS, names=[name])
    with pytest.raises(NotImplementedError, match="rot_q"):
        every["q", 0]
    with pytest.raises(buoy.UsageError, match="layer"):
        tiny.run_with_cache(IDS, names=["blocks.99.hook_resid_post"])
    post = every["resid_post", 0]
    assert not post.flags.owndata and every["resid_post", 0].ctypes.data == post.ctypes.data


def test_a_cache_has_the_states_of_a_trace(tiny_diffusion):
    run = tiny_diffusion.generate(IDS, max_new_tokens=4, observe="residual,head-out,lens")
    row = run["tokens_by_step"][0]
    _, cache = tiny_diffusion.run_with_cache(row)
    rows = run["row_positions"]
    for layer in range(tiny_diffusion.n_layers):
        np.testing.assert_array_equal(cache["resid_post", layer][rows], run[f"residual_step0_layer{layer}"])
        np.testing.assert_array_equal(cache["z", layer][rows], run[f"head_out_step0_layer{layer}"])
        tokens, probabilities = tiny_diffusion.lens(cache["resid_post", layer][rows], top=run["lens_tokens"].shape[-1])
        np.testing.assert_array_equal(tokens, run["lens_tokens"][0, layer])
        np.testing.assert_allclose(probabilities, run["lens_probabilities"][0, layer], rtol=1e-5)


def test_the_lens_behind_the_last_layer_shows_the_models_own_words(tiny):
    logits, cache = tiny.run_with_cache(IDS, names="blocks.*.hook_resid_post")
    expected = softmax(logits[0])
    tokens, probabilities = tiny.lens(cache["resid_post", -1], top=3)
    assert tokens.dims == probabilities.dims == ("token", "rank")
    np.testing.assert_array_equal(tokens, np.argsort(-expected, axis=-1, kind="stable")[:, :3])
    np.testing.assert_allclose(probabilities, np.take_along_axis(expected, np.asarray(tokens), axis=-1), rtol=1e-5)
    stacked = np.stack([cache["resid_post", layer] for layer in range(tiny.n_layers)])
    assert tiny.lens(stacked, top=2)[0].shape == (tiny.n_layers, len(IDS), 2)
    for states, top in ((np.ones(3), 1), (np.ones((2, tiny.d_model + 1)), 1), (np.ones((0, tiny.d_model)), 1),
                        (np.array(["a"] * tiny.d_model), 1), (cache["resid_post", 0], 0), (cache["resid_post", 0], 10**9),
                        (cache["resid_post", 0], 1.5)):
        with pytest.raises(buoy.UsageError) as error:
            tiny.lens(states, top=top)
        assert error.value.where and error.value.expected and error.value.found


# Changes.

def test_nothing_added_and_a_state_for_itself_change_nothing(tiny):
    logits, cache = tiny.run_with_cache(IDS)
    for layer in range(tiny.n_layers):
        for at in POINTS:
            with tiny.steer(layer=layer, vector=np.zeros(tiny.d_model), at=at):
                np.testing.assert_array_equal(tiny(IDS), logits)
            own = cache[f"resid_{at}", layer]
            with tiny.patch(layer=layer, states=own, at=at), tiny.changed(patch={(layer, (3, 1)): own[[3, 1]]}, at=at):
                np.testing.assert_array_equal(tiny(IDS), logits)
    with tiny.changed(scale_mlps={range(tiny.n_layers): 1}):
        np.testing.assert_array_equal(tiny(IDS), logits)


def test_a_vector_is_added_where_it_was_said(tiny):
    rng = np.random.default_rng(0)
    _, before = tiny.run_with_cache(IDS)
    vector = rng.standard_normal(tiny.d_model).astype("f4")
    with tiny.steer(layer=1, vector=vector, positions=[3, 1], scale=0.5):
        _, after = tiny.run_with_cache(IDS)
    expected = np.array(before["resid_post", 1])
    expected[[1, 3]] += 0.5 * vector
    np.testing.assert_allclose(after["resid_post", 1], expected, rtol=1e-6, atol=1e-6)
    each = rng.standard_normal((2, tiny.d_model)).astype("f4")
    with tiny.changed(steer={(1, (3, 1)): each}, at="pre"):
        _, after = tiny.run_with_cache(IDS)
    expected = np.array(before["resid_pre", 1])
    expected[[3, 1]] += each
    np.testing.assert_allclose(after["resid_pre", 1], expected, rtol=1e-6, atol=1e-6)
    with tiny.changed(scale_mlps={1: 0}):
        _, after = tiny.run_with_cache(IDS)
    np.testing.assert_array_equal(after["resid_post", 1], after["resid_mid", 1])
    np.testing.assert_array_equal(after["resid_mid", 1], before["resid_mid", 1])


def test_another_rows_states_make_it_the_other_row(tiny):
    others = [9, 6, 7, 8, 4]
    logits, states = tiny.run_with_cache(others)
    with tiny.patch(layer=0, states=states["resid_pre", 0][[0, 4]], positions=[0, 4], at="pre"):
        np.testing.assert_array_equal(tiny(IDS), logits)
    with tiny.patch(layer=-1, states=states["resid_post", -1]):
        np.testing.assert_array_equal(tiny(IDS), logits)
    assert not np.array_equal(tiny(IDS), logits)


@pytest.mark.parametrize("name", ["diffusion", "autoregressive"])
def test_a_vector_decides_the_answer(name, request):
    model = request.getfixturevalue(name)
    token = model.to_single_token(" Group")
    assert model.generate(PROMPT, max_new_tokens=8).text == " Emirex Group"
    vector = model.W_U[:, token] / np.linalg.norm(model.W_U[:, token])
    scale = 100 * float(np.linalg.norm(model.run_with_cache(PROMPT)[1]["resid_post", -1], axis=-1).max())
    with model.steer(layer=-1, vector=vector, scale=scale):
        assert set(model.generate(PROMPT, max_new_tokens=4).ids.tolist()[-4:]) == {token}
        assert model.score(PROMPT, " Group")[0] > -0.01
    assert model.generate(PROMPT, max_new_tokens=8).text == " Emirex Group"


@pytest.mark.parametrize("person", ["Jomessa Alorley", "Mibard Candahl", "Nodela Wudley"])
@pytest.mark.parametrize("name", ["diffusion", "autoregressive"])
def test_a_patched_name_brings_its_own_answer(name, person, request):
    """The fact is in the states of the name: another's states there, behind an early layer, bring the other's answer; behind
    the last layer nobody reads them any more."""
    model = request.getfixturevalue(name)
    base = model.generate(PROMPT, max_new_tokens=8)
    prompt, other = (model.to_tokens(text)[0] for text in (PROMPT, PROMPT.replace("Klados Hebwick", person)))
    answer = model.generate(PROMPT.replace("Klados Hebwick", person), max_new_tokens=8).text
    assert len(prompt) == len(other) and answer != base.text
    row = np.concatenate([other, np.full(8, model.mask_token)]) if model.is_diffusion else other
    _, cache = model.run_with_cache(row, names="blocks.*.hook_resid_post")
    differ = np.flatnonzero(other != prompt)
    for layer, expected in [(0, answer), (3, answer), (model.n_layers - 1, base.text)]:
        with model.patch(layer=layer, states=cache["resid_post", layer][differ], positions=differ):
            assert model.generate(PROMPT, max_new_tokens=8).text == expected


def test_steps_and_the_loop(tiny_diffusion):
    m = tiny_diffusion
    vector = 3 * np.random.default_rng(1).standard_normal(m.d_model)
    plain = m.generate(IDS, max_new_tokens=6, observe="residual-norms")
    with m.changed(steer={(1, "answer"): vector}, scale_mlps={0: 0.5}, steps=[1, 2]):
        changed = m.generate(IDS, max_new_tokens=6, observe="residual-norms")
        driven = m.generate(IDS, max_new_tokens=6, observe="residual-norms", on_step=lambda step: None)

    def by_hand(step):
        if step.index in (1, 2):
            step.steer(layer=1, vector=vector, positions="answer")
            step.scale_mlps({0: 0.5})

    stepped = m.generate(IDS, max_new_tokens=6, observe="residual-norms", on_step=by_hand)
    np.testing.assert_array_equal(changed["residual_norm"][0], plain["residual_norm"][0])
    assert not np.array_equal(changed["residual_norm"][1], plain["residual_norm"][1])
    for other in (driven, stepped):
        np.testing.assert_array_equal(other["residual_norm"], changed["residual_norm"])
        np.testing.assert_array_equal(other["residual_cosine"], changed["residual_cosine"])
        assert other.ids.tolist() == changed.ids.tolist()

    def late(step):
        step.confidence
        step.patch(layer=0, states=vector)

    with pytest.raises(buoy.UsageError, match="forward"):
        m.generate(IDS, max_new_tokens=4, on_step=late)


def test_files_of_vectors_and_the_programs_bytes(tiny, program, tmp_path):
    vector = np.random.default_rng(2).standard_normal(tiny.d_model).astype("f4")
    np.save(tmp_path / "v.npy", vector)
    options = {"max_new_tokens": 4, "observe": "residual"}
    with tiny.steer(layer=1, vector=tmp_path / "v.npy", scale=2.0, at="mid"), tiny.changed(scale_mlps={0: 0.5}):
        tiny.generate(IDS, **options).save(tmp_path / "file")
    with tiny.steer(layer=1, vector=vector, scale=2.0, at="mid"), tiny.changed(scale_mlps={0: 0.5}):
        tiny.trace(IDS, tmp_path / "array", **options)
    program("trace", "--model", tiny.folder, "--ids", ",".join(map(str, IDS)), "--max-new-tokens", 4, "--observe", "residual",
            "--steer", f"all@1:mid=2*{tmp_path / 'v.npy'}", "--scale-mlp", "0=0.5", "--device", "cpu", "--out", tmp_path / "theirs")
    one, two, three = (next((tmp_path / name / "samples").iterdir()).read_bytes() for name in ("file", "array", "theirs"))
    assert one == two == three
    changes = [json.loads((tmp_path / name / "manifest.json").read_text())["probe"]["changes"] for name in ("array", "theirs")]
    sums = [[text.split("sha256")[1] for text in some if "steer" in text] for some in changes]
    assert sums[0] == sums[1] and len(sums[0]) == 1


def test_steering_ends(diffusion):
    plain = diffusion(PROMPT)
    vector = np.full(diffusion.d_model, 10.0)
    handle = diffusion.steer(layer=3, vector=vector)
    assert "steer all@3" in repr(handle) and not np.array_equal(diffusion(PROMPT), plain)
    handle.remove()
    handle.remove()
    assert "removed" in repr(handle)
    np.testing.assert_array_equal(diffusion(PROMPT), plain)
    diffusion.steer(layer=3, vector=vector)
    diffusion.reset_hooks()
    np.testing.assert_array_equal(diffusion(PROMPT), plain)


def test_questions_are_asked_of_the_steered_model(diffusion, questions):
    plain = diffusion.evaluate(questions, max_new_tokens=8, limit=2)
    with diffusion.steer(layer=-1, vector=np.zeros(diffusion.d_model)):
        same = diffusion.evaluate(questions, max_new_tokens=8, limit=2)
    with diffusion.steer(layer=-1, vector=diffusion.W_U[:, 40], scale=1e3):
        other = diffusion.evaluate(questions, max_new_tokens=8, limit=2)
    texts = [[record["answer"] for record in one] for one in (plain, same, other)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("options", [
    {"vector": np.ones(3)}, {"vector": np.ones((2, 2, 2))}, {"vector": None}, {"fill": np.nan}, {"fill": 1j}, {"layer": 99}, {"layer": -99}, {"layer": "x"}, {"layer": None}, {"at": "above"},
    {"scale": "much"}, {"scale": True}, {"positions": [1, 1]}, {"positions": [-1]}, {"positions": []}, {"positions": [0.5]},
    {"rows": 3, "positions": [0, 1]}, {"steps": "x"},
])
def test_vectors_that_are_none(diffusion, options):
    width = diffusion.d_model
    rows, fill = options.get("rows"), options.get("fill", 1.0)
    given = {"layer": 1, "vector": np.full((rows, width) if rows else width, fill), **options}
    given = {name: value for name, value in given.items() if name not in ("rows", "fill")}
    with pytest.raises(buoy.Error) as error:
        diffusion.steer(**given)
    assert error.value.where and error.value.expected and error.value.found
    assert not diffusion._stack()


def test_files_that_are_no_vectors(diffusion, tmp_path):
    np.save(tmp_path / "wide.npy", np.ones(diffusion.d_model + 1, dtype="f4"))
    (tmp_path / "text.npy").write_text("no numbers")
    for name in ("wide.npy", "text.npy", "none.npy"):
        with pytest.raises(buoy.Error, match="npy|numbers"):
            diffusion.steer(layer=1, vector=tmp_path / name)


def test_changes_that_are_none(diffusion, autoregressive):
    width = diffusion.d_model
    for options in ({"scale_mlps": {99: 0}}, {"scale_mlps": {0: -1}}, {"scale_mlps": {0: "off"}}, {"steer": 5},
                    {"steer": {0: np.ones(width + 1)}}, {"patch": {(0, "answer", 1): np.ones(width)}},
                    {"patch": {(0, (1, 2)): np.ones((3, width))}}):
        with pytest.raises(buoy.UsageError) as error:
            with diffusion.changed(**options):
                pass
        assert error.value.where and error.value.expected and error.value.found
    with pytest.raises(buoy.UsageError, match="steps"):
        autoregressive.steer(layer=0, vector=np.ones(autoregressive.d_model), steps=[0])
    with diffusion.steer(layer=0, vector=np.ones(width), positions=[500]):
        with pytest.raises(buoy.UsageError, match="positions"):
            diffusion(PROMPT)
    with diffusion.patch(layer=0, states=np.ones((3, width))):
        with pytest.raises(buoy.UsageError, match="positions"):
            diffusion(PROMPT)
    with pytest.raises(buoy.UsageError, match="around the call"):
        diffusion.generate(PROMPT, steer={0: np.ones(width)})
    assert diffusion(PROMPT).shape[0] == 1
