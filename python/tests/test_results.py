"""Evaluations, scores, changes, caches, analyses, reports."""

import json
import math
import os

import numpy as np
import pytest

import buoy
from conftest import PROMPT, ROOT

TEMPLATE = ROOT / "models/planted.prompt"


@pytest.mark.parametrize("name", ["planted-diffusion", "planted-autoregressive"])
def test_answers_are_those_of_the_program(name, questions, program, tmp_path):
    model = buoy.load(ROOT / "models" / name, device="cpu")
    ours = model.evaluate(questions, template=str(TEMPLATE), max_new_tokens=8)
    program("eval", "--model", ROOT / "models" / name, "--data", questions, "--template", TEMPLATE, "--max-new-tokens", 8,
            "--device", "cpu", "--out", tmp_path / "run")
    assert ours.lines == (tmp_path / "run/answers.jsonl").read_text().splitlines()
    driven = model.evaluate(questions, template=str(TEMPLATE), max_new_tokens=8, on_step=lambda step: None, limit=3)
    assert driven.lines == ours.lines[:3]
    ours.save(tmp_path / "ours.jsonl")
    assert (tmp_path / "ours.jsonl").read_bytes() == (tmp_path / "run/answers.jsonl").read_bytes()


def test_hiding_sinks_is_compared_with_leaving_them(diffusion, questions):
    def hide_last_sinks(step):
        if step.index:
            step.scale_keys(step.previous.received.topk(5, per="head"), 0.0)

    with_sinks = diffusion.evaluate(questions, template=str(TEMPLATE), max_new_tokens=8, limit=4)
    without = diffusion.evaluate(questions, template=str(TEMPLATE), max_new_tokens=8, limit=4, on_step=hide_last_sinks)
    metric = with_sinks.metrics[0]
    difference = buoy.compare(without, with_sinks, metric=metric)
    assert difference.lower <= difference.value <= difference.upper
    assert difference.value == pytest.approx(np.mean(without.scores(metric)) - np.mean(with_sinks.scores(metric)))
    assert buoy.compare(with_sinks, with_sinks).value == 0 and "substring" in repr(without)
    assert [record["id"] for record in without] == [record["id"] for record in with_sinks]
    assert len(without.to_pandas()) == 4 and metric in without.to_pandas().columns
    with pytest.raises(buoy.UsageError, match="same items"):
        buoy.compare(without, diffusion.evaluate(questions, template=str(TEMPLATE), max_new_tokens=8, limit=3), metric=metric)


def test_changed_is_what_the_program_changes(diffusion, program):
    with diffusion.changed(scale_heads={(5, 0): 0, (5, 2): 0}):
        changed = diffusion.generate(PROMPT, max_new_tokens=8)
    said = json.loads(program("generate", "--model", diffusion.folder, "--prompt", PROMPT, "--max-new-tokens", 8, "--scale-heads",
                              "5.0,5.2=0", "--device", "cpu", "--json"))
    assert changed.ids.tolist() == said["ids"]
    with diffusion.changed(scale_keys={(1, 2, 3): 0.1}, layers=range(4), steps=range(4)):
        changed = diffusion.generate(PROMPT, max_new_tokens=8)
    said = json.loads(program("generate", "--model", diffusion.folder, "--prompt", PROMPT, "--max-new-tokens", 8, "--scale-keys",
                              "1-3@0-3/0-3=0.1", "--device", "cpu", "--json"))
    assert changed.ids.tolist() == said["ids"]
    with diffusion.changed(scale_heads={(3, 1): 0}, scale_keys={(0, 1): 0}):
        driven = diffusion.generate(PROMPT, max_new_tokens=8, on_step=lambda step: None, observe="entropy")
        whole = diffusion.generate(PROMPT, max_new_tokens=8, observe="entropy")
    np.testing.assert_array_equal(driven["entropy"], whole["entropy"])


def test_changes_end_with_their_block(diffusion):
    plain = diffusion(diffusion.to_tokens(PROMPT))
    with pytest.raises(RuntimeError):
        with diffusion.changed(scale_heads={(0, 0): 0}):
            assert not np.array_equal(diffusion(diffusion.to_tokens(PROMPT)), plain)
            raise RuntimeError
    np.testing.assert_array_equal(diffusion(diffusion.to_tokens(PROMPT)), plain)


def test_scores_are_log_probabilities(autoregressive, diffusion, tiny):
    begin, rest = [5, 6, 7], [8, 9]
    logits = np.asarray(tiny(begin + rest if not tiny.is_diffusion else begin + [tiny.mask_token] * 2)[0], dtype="f8")
    offset = tiny.config["prediction_offset"]
    expected = [logits[p - offset, t] - math.log(np.exp(logits[p - offset]).sum()) for p, t in zip((3, 4), rest)]
    order = "at-once" if tiny.is_diffusion else "left-to-right"
    np.testing.assert_allclose(tiny.score(begin, rest, order=order), expected, rtol=1e-5)
    for model in (autoregressive, diffusion):
        scores = model.score(PROMPT, " Emirex Group")
        assert scores.dims == ("token",) and (np.asarray(scores) <= 0).all()
    first = diffusion.score(PROMPT, " Emirex Group")[0]
    assert first == diffusion.score(PROMPT, " Emirex Group", order="at-once")[0]
    # Of one token there is one order.
    token = diffusion.to_single_token(" Group")
    assert diffusion.score(PROMPT, [token], order="decoding")[0] == diffusion.score(PROMPT, [token])[0]
    with pytest.raises(buoy.UsageError, match="decoding"):
        diffusion.score(PROMPT, " Emirex Group", order="backwards")


def test_names_of_transformer_lens(diffusion):
    m = buoy.Model.from_pretrained(diffusion.folder, device="cpu")
    tokens = m.to_tokens(PROMPT)
    assert tokens.shape[0] == 1 and "".join(m.to_str_tokens(PROMPT)) == m.to_string(tokens)
    assert "".join(m.to_str_tokens(PROMPT, prepend_bos=False)) == PROMPT
    logits = m(tokens)
    assert logits.shape == (1, tokens.shape[1], m.d_vocab)
    again, cache = m.run_with_cache(tokens)
    np.testing.assert_array_equal(again, logits)
    assert len(cache) == 10 * m.n_layers
    pattern = cache["pattern", 0]
    assert pattern.shape == (m.n_heads, tokens.shape[1], tokens.shape[1])
    np.testing.assert_allclose(pattern.sum("key"), 1, rtol=1e-5)
    np.testing.assert_array_equal(cache["pattern", -1], cache[f"blocks.{m.n_layers - 1}.attn.hook_pattern"])
    _, few = m.run_with_cache(tokens, names=["blocks.2.attn.hook_pattern"])
    assert few.keys() == ["blocks.2.attn.hook_pattern"]
    with pytest.raises(KeyError, match="not asked"):
        few["pattern", 0]
    assert m.W_U.shape == (m.d_model, m.d_vocab) and m.W_E.shape == (m.d_vocab, m.d_model)
    with pytest.raises(NotImplementedError, match="changed"):
        m.run_with_hooks(tokens, fwd_hooks=[])
    assert cache["resid_post", -1].shape == (tokens.shape[1], m.d_model)
    with pytest.raises(NotImplementedError, match="pattern"):
        cache["normalized", -1]
    with pytest.raises(buoy.UsageError, match="layer"):
        m.run_with_cache(tokens, names=["blocks.99.attn.hook_pattern"])


def test_analyses_reports_and_pictures(diffusion, autoregressive, program, tmp_path):
    traces = {}
    for model in (diffusion, autoregressive):
        name = os.path.basename(model.folder)
        traces[name] = model.trace([PROMPT, "Question: Where does Klados Hebwick live?\nAnswer:"], tmp_path / name,
                                   max_new_tokens=8, observe="received,entropy")
    tables = buoy.analyze.absorption(list(traces.values()))
    program("analyze", "absorption", *[trace.folder for trace in traces.values()], "--out", tmp_path / "theirs")
    for table in tables:
        lines = (tmp_path / f"theirs/tables/{table.name}.csv").read_text().splitlines()
        assert lines[0].split(",") == table.columns and len(lines) - 1 == len(table)
    frame = tables.to_pandas()
    assert list(frame.columns) == list(tables.to_dict()) and len(frame) == len(tables.to_dict()["trace"])
    page = buoy.report(list(traces.values()), tmp_path / "report")
    assert "<html" in open(page, encoding="utf-8").read(2000)
    run = diffusion.generate(PROMPT, max_new_tokens=8, observe="received")
    assert traces["planted-diffusion"][1]._repr_html_().startswith("<iframe")
    assert run._repr_html_().startswith("<iframe") and "Klados" in run._repr_html_()
    assert "<pre" in diffusion.generate(PROMPT, max_new_tokens=4)._repr_html_()
