"""`buoy export --format npz`: numpy opens the files, and they hold the numbers of the trace.

Called with the program and a checkpoint folder; part of ctest where there is a Python with numpy.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from buoy.trace import Trace  # noqa: E402

PROGRAM, MODELS = sys.argv[1], Path(sys.argv[2])


def run(*arguments, expect=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == expect, (done.returncode, done.stderr)
    return done


def check(name, folder):
    diffusion = not name.startswith("llama")
    run("trace", "--model", MODELS / name, "--ids", "5,6,7,8", "--max-new-tokens", "6", "--observe",
        "received,dense,dense-mean,states", "--out", folder / "trace")
    run("export", folder / "trace", "--format", "npz", "--out", folder / "npz")
    sample = Trace(folder / "trace")["prompt"]
    assert [file.name for file in (folder / "npz").iterdir()] == ["prompt_attentions.npz"], "what the scripts look for"
    data = np.load(folder / "npz" / "prompt_attentions.npz", allow_pickle=True)
    assert int(data["input_length"]) == 4 and int(data["num_generated_tokens"]) == 6
    assert str(data["question"]) == ""
    np.testing.assert_array_equal(data["answer_tokens"], sample["tokens"][4:])
    np.testing.assert_array_equal(data["token_generation_step"], sample["revealed_at"][4:])
    last = int(sample["steps"][-1])
    for layer in map(int, sample["layers"]):
        heads = data[f"layer_{layer}_full_attention_heads"]
        np.testing.assert_array_equal(heads, sample[f"dense_step{last}_layer{layer}"])
        mean = data[f"layer_{layer}_full_attention"]
        np.testing.assert_array_equal(mean, sample[f"dense_mean_step{last}_layer{layer}"])
        np.testing.assert_allclose(mean, heads.mean(axis=0), rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-5)
        for states, array in (("query", "queries"), ("key", "keys")):
            np.testing.assert_array_equal(data[f"layer_{layer}_{states}_states"],
                                          sample[f"{array}_step{last}_layer{layer}"].transpose(1, 0, 2))
    np.testing.assert_array_equal(data["full_attention_layer"], sample["layers"])
    np.testing.assert_array_equal(data["full_attention_step"], [last] * len(sample["layers"]))
    np.testing.assert_array_equal(data["full_attention_is_final_row"], [1] * len(sample["layers"]))
    # Steps of decoding, and the look at the final row apart from them: a script that draws all steps draws no look.
    decoding, looks = data["step_attention_data"], data["final_attention_data"]
    assert decoding.dtype == object and looks.dtype == object
    assert len(looks) == (1 if diffusion else 0)
    assert len(decoding) + len(looks) == len(sample["steps"])
    if diffusion:
        assert int(sample.metadata["mask_token"]) in decoding[0]["sequence"], "the first step has all to reveal"
    for index, step in enumerate([*decoding, *looks]):
        assert step["step"] == int(sample["steps"][index])
        assert step["is_final_row"] == (0 if diffusion and index < len(decoding) else 1)
        np.testing.assert_array_equal(step["sequence"], sample["tokens_by_step"][index])
        for layer in map(int, sample["layers"]):
            # What create_temporal.py computes: the column mean of the head mean.
            received = sample["received"][index, layer].sum(axis=0).mean(axis=0) / len(sample["tokens"])
            np.testing.assert_allclose(step[f"layer_{layer}_attention_avg"].mean(axis=0), received, atol=1e-6)


def check_without_final(folder):
    """Without a look at the final row nothing is marked as one."""
    run("trace", "--model", MODELS / "llada-f32", "--ids", "5,6,7,8", "--max-new-tokens", "6", "--observe", "dense-mean",
        "--no-final", "--out", folder / "trace")
    run("export", folder / "trace", "--out", folder / "npz")
    data = np.load(folder / "npz" / "prompt_attentions.npz", allow_pickle=True)
    assert not data["full_attention_is_final_row"].any()
    assert len(data["final_attention_data"]) == 0 and len(data["step_attention_data"]) > 1


def rolled_out(data, regions, rows, layers):
    """The published rollout: mass between regions summed, rows normalised, the identity added, over all layers."""
    out = np.eye(len(regions))
    for layer in range(layers):
        matrix = data[f"layer_{layer}_full_attention"].astype(np.float64)
        mass = np.array([[matrix[np.ix_(a, b)].sum() for b in regions] for a in rows])
        mass /= np.maximum(mass.sum(axis=1, keepdims=True), 1e-30)
        step = mass + np.eye(len(regions))
        out = step / step.sum(axis=1, keepdims=True) @ out
    return out / out.sum(axis=1, keepdims=True)


def rows_of(sample, names):
    """The queries of each region: a row belongs to the answer, or to padding, if the token that it writes does."""
    offset, prompt = int(sample.metadata["prediction_offset"]), int(sample.metadata["prompt_length"])
    region, length = sample["region_of_token"], len(sample["region_of_token"])
    written = [i if i + offset < prompt else min(i + offset, length) for i in range(length)]
    name_of = [sample.texts("region_names")[region[w]] if w < length else "padding" for w in written]
    return [np.array([i for i in range(length) if name_of[i] == name], int) for name in names]


def published_spans(sample, data):
    """The authors' regions: the answer is all that was generated, a row belongs where it stands, the template nowhere."""
    region, names = sample["region_of_token"], sample.texts("region_names")
    input_length, generated = int(data["input_length"]), int(data["num_generated_tokens"])
    spans = {name: np.flatnonzero((region == i) & (np.arange(len(region)) < input_length))
             for i, name in enumerate(names) if name != "template"}
    spans["answer"] = np.arange(input_length, input_length + generated)
    return {name: span for name, span in spans.items() if len(span)}


def check_rollout(name, folder):
    """`analyze flow` calls published what the scripts compute from the exported files; final_row is the same forward with
    padding apart and rows by the token that they write."""
    pair = ROOT / "models"
    run("world", "--count", "2", "--passages", "2", "--out", folder / "q.jsonl")
    run("trace", "--model", pair / name, "--data", folder / "q.jsonl", "--template", pair / "planted.prompt",
        "--max-new-tokens", "4", "--observe", "mass,row-mass,dense-mean", "--groups", "regions", "--out", folder / "trace")
    run("export", folder / "trace", "--out", folder / "npz")
    run("analyze", "flow", folder / "trace", "--out", folder / "flow", "--replicates", "10")
    table = json.loads((folder / "flow" / "tables" / "flow_rollout.json").read_text())
    columns = [column["name"] for column in table["columns"]]
    rows = [dict(zip(columns, row)) for row in table["rows"]]
    trace = Trace(folder / "trace")
    flows = {}
    for forward in ("published", "final_row"):
        found = {(row["from"], row["to"]): row["flow"] for row in rows
                 if (row["forward"], row["pooling"], row["all_layers"]) == (forward, "sum", "yes")}
        sums, counts = {}, {}
        for entry in trace.samples:
            sample = trace[entry["id"]]
            data = np.load(folder / "npz" / f"{entry['id']}_attentions.npz", allow_pickle=True)
            if forward == "published":
                regions = published_spans(sample, data)
                names, spans = list(regions), list(regions.values())
                matrix = rolled_out(data, spans, spans, len(sample["layers"]))
            else:
                names = [n for i, n in enumerate(sample.texts("region_names")) if (sample["region_of_token"] == i).any()]
                spans = [np.flatnonzero(sample["region_of_token"] == sample.texts("region_names").index(n)) for n in names]
                matrix = rolled_out(data, spans, rows_of(sample, names), len(sample["layers"]))
            for a, source in enumerate(names):
                for b, target in enumerate(names):
                    sums[source, target] = sums.get((source, target), 0) + matrix[a, b]
                    counts[source, target] = counts.get((source, target), 0) + 1
        assert set(found) == set(sums), set(found) ^ set(sums)
        for key, value in found.items():
            np.testing.assert_allclose(value, sums[key] / counts[key], atol=2e-6, err_msg=f"{forward} {key}")
        flows[forward] = found
    assert abs(flows["published"]["answer", "answer"] - flows["final_row"]["answer", "answer"]) > 1e-4, "two things"
    found = flows["final_row"]
    steps = {row["forward"] for row in rows}
    looks = {"published", "final_row"}
    assert steps == (looks | {"denoising_mean", "denoising_last"} if name == "planted-diffusion" else looks), steps
    if name == "planted-diffusion":
        mean = next(row["flow"] for row in rows if (row["forward"], row["pooling"], row["all_layers"], row["from"],
                    row["to"]) == ("denoising_mean", "sum", "yes", "answer", "answer"))
        assert abs(mean - found["answer", "answer"]) > 0.01, "steps that still hold masks are another thing"


def check_refusal(folder):
    run("trace", "--model", MODELS / "llada-f32", "--ids", "5,6", "--max-new-tokens", "2", "--observe", "received",
        "--out", folder / "bare")
    failed = run("export", folder / "bare", "--out", folder / "none", expect=3)
    assert "dense-mean" in failed.stderr, failed.stderr
    assert not (folder / "none").exists(), "a failed export leaves nothing"


def main():
    for name in ("llada-f32", "llama31-f32", "dream-f32"):
        with tempfile.TemporaryDirectory() as folder:
            check(name, Path(folder))
    for name in ("planted-diffusion", "planted-autoregressive"):
        with tempfile.TemporaryDirectory() as folder:
            check_rollout(name, Path(folder))
    for more in (check_without_final, check_refusal):
        with tempfile.TemporaryDirectory() as folder:
            more(Path(folder))
    print("export: numpy", np.__version__, "reads what the trace holds")


main()
