"""What users of notebooks do, story by story: on the bundled models, and on tiny random models of every family (which have no
tokenizer: there, prompts are ids)."""

import json

import numpy as np
import pytest

import buoy
from conftest import FAMILIES, GOLDENS, PROMPT, ROOT

IDS = list(range(5, 21))
BUNDLED = ["natural-diffusion", "natural-autoregressive", "planted-diffusion", "planted-autoregressive"]


@pytest.fixture(params=BUNDLED, scope="module")
def bundled(request):
    return buoy.load(ROOT / "models" / request.param, device="cpu")


@pytest.fixture(params=BUNDLED + FAMILIES, scope="module")
def asked(request):
    """Every model, and a prompt for it."""
    if request.param in BUNDLED:
        return buoy.load(ROOT / "models" / request.param, device="cpu"), PROMPT
    return buoy.load(GOLDENS / request.param, device="cpu"), IDS


@pytest.fixture(params=BUNDLED[::2], scope="module")
def bundled_diffusion(request):
    return buoy.load(ROOT / "models" / request.param, device="cpu")


def template_of(model):
    return str(ROOT / f"models/{model.name.split('-')[0]}.prompt")


# A run.

def look_around(m, prompt):
    assert m.family and m.n_layers > 0 and m.n_heads > 0 and m.device == "cpu"
    run = m.generate(prompt, max_new_tokens=8, observe="received,entropy")
    assert run["received"].dims == ("step", "layer", "group", "head", "token") and not run["received"].flags.owndata
    assert run.revealed_at.shape == run.tokens.shape and run.revealed_at.max() >= 0
    top = run.top_keys(layer=1, step=-1, k=5)
    assert len(top) == 5 and all(0 <= share <= 1 for _, _, share in top)
    assert [share for *_, share in top] == sorted((share for *_, share in top), reverse=True)
    assert run._repr_html_().startswith("<iframe")
    return run


def test_a_first_look(bundled, program):
    run = look_around(bundled, PROMPT)
    assert run.text == " Emirex Group" and isinstance(run.top_keys(layer=1)[0][1], str)
    said = json.loads(program("generate", "--model", bundled.folder, "--prompt", PROMPT, "--max-new-tokens", 8, "--device", "cpu", "--json"))
    assert (run.text, run.ids.tolist()) == (said["text"], said["ids"])


def test_a_first_look_at_every_family(tiny):
    assert look_around(tiny, IDS).text is None


def test_a_trace_has_the_programs_bytes(bundled, program, tmp_path):
    observe = "received,entropy,mass,predictions,lens,residual-norms"
    bundled.generate(PROMPT, max_new_tokens=8, observe=observe).save(tmp_path / "ours")
    program("trace", "--model", bundled.folder, "--prompt", PROMPT, "--max-new-tokens", 8, "--observe", observe, "--device", "cpu",
            "--out", tmp_path / "theirs")
    ours, theirs = ((tmp_path / one / "samples/prompt.safetensors").read_bytes() for one in ("ours", "theirs"))
    assert ours == theirs


# Predictions per step.

def require_predictions(run, m, steps):
    confidence, entropy, margin = (run[f"predicted_{name}"] for name in ("confidence", "entropy", "margin"))
    tokens, shares = run["predicted_tokens"], run["predicted_probabilities"]
    answer = len(run.tokens) - run.prompt_length
    assert confidence.dims == ("step", "answer") and confidence.shape == (steps, answer) == entropy.shape == margin.shape
    assert tokens.dims == ("step", "answer", "rank") and tokens.shape == shares.shape == (steps, answer, 5)
    assert (np.diff(shares, axis=-1) <= 0).all() and (0 <= shares).all() and (shares <= 1).all()
    assert (0 <= margin).all() and (margin <= 1).all() and (entropy >= 0).all() and (confidence <= 1).all()


def test_predictions(asked):
    m, prompt = asked
    run = m.generate(prompt, max_new_tokens=6, observe="predictions")
    require_predictions(run, m, run["steps"].shape[0])
    if not m.is_diffusion:
        # The most probable token was written, and its probability is the confidence.
        assert run["predicted_tokens"][0, :, 0].tolist() == run.ids.tolist()
        np.testing.assert_allclose(run["predicted_confidence"][0], run["predicted_probabilities"][0, :, 0], rtol=1e-6)
    else:
        for position, step in enumerate(run.revealed_at[run.prompt_length:]):
            assert run["predicted_tokens"][step, position, 0] == run.ids[position]


# Activations by name.

def test_activations(asked):
    m, prompt = asked
    logits, cache = m.run_with_cache(prompt, names=["blocks.1.attn.hook_pattern", "blocks.*.hook_resid_post"])
    tokens = logits.shape[1]
    assert cache["pattern", 1].shape == (m.n_heads, tokens, tokens) and cache["pattern", 1].dims == ("head", "query", "key")
    assert sorted(cache.keys()) == sorted(["blocks.1.attn.hook_pattern"] + [f"blocks.{n}.hook_resid_post" for n in range(m.n_layers)])
    shared = np.from_dlpack(cache["resid_post", 1])
    assert shared.shape == (tokens, m.d_model) and shared.ctypes.data == cache["resid_post", 1].ctypes.data


# As a user of TransformerLens would type it.

def test_transformer_lens(bundled):
    model = buoy.Model.from_pretrained(bundled.folder)
    tokens = model.to_tokens(PROMPT)
    assert model.to_string(tokens[0]) == "".join(model.to_str_tokens(PROMPT)) and tokens.shape[0] == 1
    logits = model(tokens)
    again, cache = model.run_with_cache(tokens)
    np.testing.assert_array_equal(logits, again)
    assert logits.shape == (1, tokens.shape[1], model.d_vocab)
    assert cache["pattern", 0].shape == cache["blocks.0.attn.hook_pattern"].shape
    # The last state, read by the final norm and the unembedding, gives the logits' own order.
    best, _ = model.lens(cache["resid_post", -1], top=1)
    assert best[:, 0].tolist() == np.asarray(logits[0]).argmax(axis=-1).tolist()
    assert model.W_U.shape == (model.d_model, model.d_vocab) and model.W_E.shape == (model.d_vocab, model.d_model)
    assert model.generate(PROMPT, max_new_tokens=8).text == " Emirex Group"
    with pytest.raises(NotImplementedError) as error:
        model.run_with_hooks(tokens, fwd_hooks=[("blocks.0.attn.hook_z", lambda value, hook: value)])
    for instead in ("changed", "steer", "patch", "on_step"):
        assert instead in str(error.value)
    model.reset_hooks()


# Sinks of the step before, hidden.

def hide_last_sinks(step):
    if step.index:
        step.scale_keys(step.previous.received.topk(2, per="head"), 0.0)


def test_hiding_sinks(bundled_diffusion, tmp_path):
    m = bundled_diffusion
    version = 2 if m.name.startswith("natural") else 1
    file = buoy.world_questions(tmp_path / "q.jsonl", version=version, people="asked", passages=2, count=3)
    asked = {"template": template_of(m), "max_new_tokens": 8}
    with_sinks, without = m.evaluate(file, **asked), m.evaluate(file, on_step=hide_last_sinks, **asked)
    assert with_sinks.mean("exact_match").value == 1
    difference = buoy.compare(without, with_sinks, metric="exact_match")
    assert difference.lower <= difference.value <= difference.upper and difference.value <= 0 and difference.samples == 3


def test_an_autoregressive_model_says_why_not(tiny):
    if tiny.is_diffusion:
        assert tiny.generate(IDS, max_new_tokens=4, on_step=hide_last_sinks).ids.size == 4
        return
    with pytest.raises(buoy.UsageError) as error:
        tiny.generate(IDS, max_new_tokens=4, eos_tokens=[0], on_step=hide_last_sinks)
    assert "finished" in error.value.expected


# The loop is the user's.

def test_the_loop(asked):
    """Choose, take back, go back, branch."""
    m, prompt = asked
    loop = m.steps(prompt, max_new_tokens=6, steps=20) if m.is_diffusion else m.steps(prompt, max_new_tokens=6, eos_tokens=[0])
    back = taken_back = False
    for step in loop:
        assert step.confidence.max() <= 1 and step.text is not None
        if step.index == 2 and not taken_back:
            taken_back = True
            step.remask([p for p, *_ in step.previous.reveals][-1:])
        elif step.index == 3 and not back:
            back = True
            other = step.branch()
            step.back_to(1)
        elif m.is_diffusion:
            step.reveal({int(step.masked[0]): 7})      # a random network may find the mask itself most probable
        else:
            step.choose(int(step.best.max()))
    for step in other:
        if m.is_diffusion:
            step.reveal({int(p): 9 for p in step.masked})
        else:
            step.choose(9)
    assert back and taken_back
    assert 9 in other.run.ids.tolist() and loop.run.ids.tolist() != other.run.ids.tolist()
    if m.is_diffusion:
        assert loop.run.ids.tolist() == [7] * 6 and set(other.run.ids.tolist()) == {7, 9}


def test_a_rule_of_ones_own_gives_what_the_built_in_one_gives(asked):
    m, prompt = asked
    # Dream's own rule draws positions at random unless it is told to take the surest; how many a step takes is up to its schedule.
    options = {"algorithm": "maskgit_plus", "steps": 6} if m.family == "Dream" else {}
    built_in = m.generate(prompt, max_new_tokens=6, **options)

    def greedy(step):
        if m.is_diffusion:
            count = int((built_in.revealed_at == step.index).sum())
            step.reveal(np.argsort(-step.confidence, kind="stable")[:count])
        else:
            step.choose(int(step.best[-1]))

    own = m.generate(prompt, max_new_tokens=6, rule=greedy)
    assert own.ids.tolist() == built_in.ids.tolist()
    np.testing.assert_array_equal(own.revealed_at, built_in.revealed_at)


# Changes, traces, results.

def test_changes_and_results(bundled, tmp_path):
    with bundled.changed(scale_heads={(1, 1): 0}, scale_keys={"query": 0.1}, layers=range(2)):
        changed = bundled.generate(PROMPT, max_new_tokens=8, observe="received")
    plain = bundled.generate(PROMPT, max_new_tokens=8, observe="received")
    assert not np.array_equal(changed["received"][0], plain["received"][0])
    with bundled.steer(layer=1, vector=np.full(bundled.d_model, 2.0)):
        assert bundled.score(PROMPT, " Emirex Group").sum() < 0
    traces = []
    for name, observe in (("a", "received,entropy,mass"), ("b", "received,entropy,mass")):
        traces.append(bundled.trace([PROMPT, "Question: Where does Klados Hebwick live?\nAnswer:"], tmp_path / name, max_new_tokens=8, observe=observe))
    t = buoy.open(tmp_path / "a")
    assert t[1]["mass"].dims == ("step", "layer", "group", "head", "region")
    assert buoy.analyze.absorption(t)["absorption_by_layer"].to_pandas().layer.nunique() == bundled.n_layers
    assert buoy.report(traces, out=tmp_path / "report").endswith("report.html")


def test_changes_of_every_family(tiny):
    with tiny.changed(scale_heads={(1, 1): 0}, scale_keys={(0, 1): 0.5}, layers=range(2)):
        changed = tiny.generate(IDS, max_new_tokens=4, observe="received")
    assert not np.array_equal(changed["received"], tiny.generate(IDS, max_new_tokens=4, observe="received")["received"])
