"""Loading and generating: the program's results, arrays without copies."""

import gc
import json
import threading
import tracemalloc

import numpy as np
import pytest

import buoy
from conftest import GOLDENS, PROMPT, ROOT


def test_what_a_model_is(diffusion, autoregressive):
    assert (diffusion.family, diffusion.is_diffusion, diffusion.device) == ("LLaDA", True, "cpu")
    assert not autoregressive.is_diffusion and autoregressive.mask_token is None
    assert diffusion.n_layers == diffusion.config["n_layers"] > 0
    assert diffusion.tokenizer.decode(diffusion.tokenizer.encode(PROMPT), skip_special_tokens=True) == PROMPT
    assert "LLaDA" in repr(diffusion)


@pytest.mark.parametrize("name", ["planted-diffusion", "planted-autoregressive"])
@pytest.mark.parametrize("temperature", [0, 0.8])
def test_the_text_is_that_of_the_program(name, temperature, program):
    model = buoy.load(ROOT / "models" / name, device="cpu")
    run = model.generate(PROMPT, max_new_tokens=8, seed=3, temperature=temperature)
    said = json.loads(program("generate", "--model", ROOT / "models" / name, "--prompt", PROMPT, "--max-new-tokens", 8, "--seed",
                              3, "--temperature", temperature, "--device", "cpu", "--json"))
    assert run.text == said["text"]
    assert run.ids.tolist() == said["ids"]
    assert run.revealed_at[run.prompt_length:].tolist() == said["revealed_at"]


@pytest.mark.parametrize("name", ["planted-diffusion", "planted-autoregressive"])
def test_a_saved_run_has_the_bytes_of_the_programs_trace(name, program, tmp_path):
    model = buoy.load(ROOT / "models" / name, device="cpu")
    options = {"max_new_tokens": 8, "observe": "received,entropy,rows"}
    model.generate(PROMPT, **options).save(tmp_path / "ours")
    program("trace", "--model", ROOT / "models" / name, "--prompt", PROMPT, "--max-new-tokens", 8, "--observe",
            "received,entropy,rows", "--device", "cpu", "--out", tmp_path / "theirs")
    model.trace(PROMPT, tmp_path / "traced", **options)
    ours, theirs, traced = ((tmp_path / folder / "samples/prompt.safetensors").read_bytes()
                            for folder in ("ours", "theirs", "traced"))
    assert ours == theirs == traced
    manifests = [json.loads((tmp_path / folder / "manifest.json").read_text()) for folder in ("ours", "theirs")]
    for manifest in manifests:
        manifest.pop("command"), manifest.pop("machine")
    assert manifests[0] == manifests[1]


@pytest.mark.parametrize("name, options", [
    ("sdar-f32", {}), ("sdar-moe-f32", {}), ("nemotron-f32", {}), ("nemotron-bf16", {"decoding_rule": "autoregressive"}),
    ("a2d-qwen3-f32", {"decoding_rule": "bd3lm", "mask_token": 75, "block_length": 4}), ("llada2-f32", {"decoding_rule": "llada21", "mask_token": 60}),
    ("fast-dllm-v2-f32", {"mask_token": 75, "max_new_tokens": 16}), ("rnd1-f32", {}), ("qwen3-moe-f32", {}), ("mixtral-f32", {}),
    ("llada-moe-f32", {"mask_token": 60})])
def test_tiny_models_with_blocks_and_experts(name, options, program):
    folder = ROOT / "tests/data/families" / name
    given = {"max_new_tokens": 6, **options}
    flags = [word for key, value in given.items()
             for word in ("--" + key.replace("_", "-") + ("-id" if key == "mask_token" else ""), str(value))]
    said = json.loads(program("generate", "--model", folder, "--ids", "5,6,7,8", *flags, "--device", "cpu", "--json"))
    assert buoy.load(folder, device="cpu").generate([5, 6, 7, 8], **given).ids.tolist() == said["ids"]


def test_tiny_models_of_every_family(tiny, program):
    run = tiny.generate([5, 6, 7, 8], max_new_tokens=6, observe="received")
    said = json.loads(program("generate", "--model", tiny.folder, "--ids", "5,6,7,8", "--max-new-tokens", 6, "--device", "cpu",
                              "--json"))
    assert run.ids.tolist() == said["ids"]
    assert run.text is None and run.token_texts is None
    received = run["received"]
    np.testing.assert_allclose(received.sum("token").sum("group"), run["group_sizes"].sum(axis=1)[:, None, None]
                               * np.ones(received.shape[1:4:2]), rtol=1e-5)


def test_runs_and_traces_answer_alike(diffusion, tmp_path):
    run = diffusion.generate(PROMPT, max_new_tokens=8, observe="received,entropy")
    run.save(tmp_path / "trace")
    with buoy.open(tmp_path / "trace") as trace:
        stored = trace[0]
        assert sorted(stored.keys()) == sorted(run.keys())
        for name in run.keys():
            assert stored[name].dims == run[name].dims and stored[name].dtype == run[name].dtype
            np.testing.assert_array_equal(stored[name], run[name])
        assert (stored.text, stored.prompt, stored.token_texts) == (run.text, run.prompt, run.token_texts)
        assert stored.top_keys(layer=2, step=-1, k=5) == run.top_keys(layer=2, step=-1, k=5)
        kept = stored["received"]
    with pytest.raises(buoy.TraceError, match="closed"):
        stored["received"]
    with pytest.raises(buoy.Error, match="closed"):
        trace[0]
    np.testing.assert_array_equal(kept, run["received"])


def test_top_keys(diffusion):
    run = diffusion.generate(PROMPT, max_new_tokens=8, observe="received")
    top = run.top_keys(layer=3, step=-1, k=3)
    shares = np.asarray(run["received"][-1, 3].sum(("group", "head")), dtype="f8")
    shares /= shares.sum()
    assert [p for p, _, _ in top] == np.argsort(-shares, kind="stable")[:3].tolist()
    assert top[0][1] == run.token_texts[top[0][0]]
    assert top[0][2] == pytest.approx(shares.max())


def test_names_of_axes_are_those_of_the_schema():
    from buoy import _buoy
    from buoy.trace import dims_of
    letters = dict(S="step", L="layer", G="group", H="head", V="kv_head", T="token", C="region", R="row", K="rank", D="d_head",
                   N="byte", M="d_model", A="answer", P="rank", X="choice", E="expert")
    letters["2"] = "bound"
    for name, shape, _ in _buoy.array_schema():
        expected = [letters.get(one, one) for one in shape.split()]
        if expected[-2:] == ["token", "token"]:
            expected[-2:] = ["query", "key"]
        if name == "reveals":  # N is a length of its own, 3 what is told of each
            expected = ["reveal", "field"]
        real = name.replace("{s}", "3").replace("{l}", "0").replace("{name}", "drift")
        assert dims_of(real, len(expected)) == tuple(expected), name


def test_arrays_are_views_and_outlive_their_run(diffusion):
    run = diffusion.generate(PROMPT, max_new_tokens=16, observe="received")
    received = run["received"]
    assert received.base is not None and not received.flags.owndata
    assert run["received"].ctypes.data == received.ctypes.data
    copy = np.array(received)
    tracemalloc.start()
    views = [run["received"] for _ in range(50)]
    assert tracemalloc.get_traced_memory()[1] < received.nbytes / 4
    tracemalloc.stop()
    del run, views
    gc.collect()
    others = [diffusion.generate(PROMPT, max_new_tokens=16, observe="received", seed=n) for n in range(3)]
    np.testing.assert_array_equal(received, copy)
    assert len(others) == 3


def test_lists_of_prompts(diffusion, autoregressive):
    prompts = [PROMPT, "Question: Where does Klados Hebwick live?\nAnswer:", "Who?"]
    for model in (diffusion, autoregressive):
        together = model.generate(prompts, max_new_tokens=8)
        alone = [model.generate(prompt, max_new_tokens=8) for prompt in prompts]
        assert [run.ids.tolist() for run in together] == [run.ids.tolist() for run in alone]
        watched = model.generate(prompts, max_new_tokens=8, observe="entropy")
        assert [run.text for run in watched] == [run.text for run in together]
        assert [run.id for run in watched] == ["prompt-0", "prompt-1", "prompt-2"]


def test_two_threads_one_model(diffusion):
    expected = [diffusion.generate(PROMPT, max_new_tokens=8, seed=n, temperature=1.0).ids.tolist() for n in range(4)]
    found = {}

    def work(n):
        loop = diffusion.steps(PROMPT, max_new_tokens=8, seed=n, temperature=1.0)
        for _ in loop:
            pass
        found[n] = loop.run.ids.tolist(), diffusion.generate(PROMPT, max_new_tokens=8, seed=n, temperature=1.0).ids.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == {n: (expected[n], expected[n]) for n in range(4)}


def test_untrained():
    a, b = (buoy.load(GOLDENS / "llada-f32", device="cpu", untrained=seed) for seed in (1, 2))
    assert not np.array_equal(a([5, 6, 7]), b([5, 6, 7]))
    with pytest.raises(buoy.UsageError, match="untrained"):
        a.W_U


def test_an_id_of_the_hub_cache(tmp_path, monkeypatch):
    model = tmp_path / "models--someone--pair"
    (model / "snapshots").mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs/main").write_text("0123abcd")
    (model / "snapshots/0123abcd").symlink_to(ROOT / "models/planted-autoregressive")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert buoy.load("someone/pair", device="cpu").generate(PROMPT, max_new_tokens=8).text == " Emirex Group"
    with pytest.raises(buoy.InputError, match="someone/pair"):
        buoy.load("someone/other", device="cpu")
