"""`buoy export --format npz`: numpy opens the files, and they hold the numbers of the trace.

Called with the program and a checkpoint folder; part of ctest where there is a Python with numpy.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from buoy_trace import Trace  # noqa: E402

PROGRAM, MODELS = sys.argv[1], Path(sys.argv[2])


def run(*arguments, expect=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == expect, (done.returncode, done.stderr)
    return done


def check(name, folder):
    run("trace", "--model", MODELS / name, "--ids", "5,6,7,8", "--max-new-tokens", "6", "--observe",
        "received,dense,dense-mean,states", "--out", folder / "trace")
    run("export", folder / "trace", "--format", "npz", "--out", folder / "npz")
    sample = Trace(folder / "trace")["prompt"]
    data = np.load(folder / "npz" / "prompt.npz", allow_pickle=True)
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
    steps = data["step_attention_data"]
    assert steps.dtype == object and len(steps) == len(sample["steps"])
    for index, step in enumerate(steps):
        assert step["step"] == int(sample["steps"][index])
        np.testing.assert_array_equal(step["sequence"], sample["tokens_by_step"][index])
        for layer in map(int, sample["layers"]):
            # What create_temporal.py computes: the column mean of the head mean.
            received = sample["received"][index, layer].sum(axis=0).mean(axis=0) / len(sample["tokens"])
            np.testing.assert_allclose(step[f"layer_{layer}_attention_avg"].mean(axis=0), received, atol=1e-6)


def check_refusal(folder):
    run("trace", "--model", MODELS / "llada-f32", "--ids", "5,6", "--max-new-tokens", "2", "--observe", "received",
        "--out", folder / "bare")
    failed = run("export", folder / "bare", "--out", folder / "none", expect=3)
    assert "dense-mean" in failed.stderr, failed.stderr
    assert not list((folder / "none").iterdir()), "a failed export leaves no file"


def main():
    for name in ("llada-f32", "llama31-f32", "dream-f32"):
        with tempfile.TemporaryDirectory() as folder:
            check(name, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_refusal(Path(folder))
    print("export: numpy", np.__version__, "reads what the trace holds")


main()
