"""What is refused, here and by the program: the same words, and where, expected and found apart."""

import os
import re
import subprocess

import numpy as np
import pytest

import buoy
from conftest import PROMPT, ROOT

IDS = [5, 6, 7, 8]


def refused(*arguments):
    """What the program says instead of running; flags as fields."""
    path = os.environ.get("BUOY_PROGRAM", str(ROOT / "build/python/bin/buoy"))
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode not in (0, 1), done.stdout
    return done.stderr.splitlines()[0].removeprefix("buoy: ").removeprefix("error: ")


def in_parts(error):
    assert isinstance(error, buoy.Error)
    for part in (error.where, error.expected, error.found):
        assert part, f"no part may be empty: {error}"
    return error


FLAGS = {"mask_token": "--mask-token-id", "eos_tokens": "--eos-token-id"}


def flag_of(name):
    return FLAGS.get(name, f"--{name.replace('_', '-')}")


def both(diffusion, tmp_path, name, value):
    """The exception, and the program's line."""
    options = {"max_new_tokens": 4, "observe": "received", name: value}
    with pytest.raises(buoy.UsageError) as error:
        diffusion.generate(PROMPT, **options)
    flags = [word for key, given in options.items()
             for word in (flag_of(key), ",".join(map(str, given)) if isinstance(given, list) else given)]
    theirs = refused("trace", "--model", diffusion.folder, "--prompt", PROMPT, "--device", "cpu", "--out", tmp_path / "trace", *flags)
    assert f"`{name}`" in error.value.where and theirs.startswith(flag_of(name)), (str(error.value), theirs)
    return in_parts(error.value), theirs


@pytest.mark.parametrize("name, value", [
    ("algorithm", "best"), ("top_k", 5), ("mask_token", 10**6), ("block_length", 3), ("layers", "9-x"), ("observe", "everything"),
    ("steps_observed", "x"), ("groups", "nothing"), ("repetition_penalty", 2.0), ("eos_tokens", [10**6]),
])
def test_options_are_refused_in_the_words_of_the_program(diffusion, name, value, tmp_path):
    ours, theirs = both(diffusion, tmp_path, name, value)
    words = re.sub("`([a-z_]+)`", lambda field: flag_of(field[1]), f"expected {ours.expected}, found {ours.found}")
    assert words in theirs


@pytest.mark.parametrize("name, value", [("temperature", -1), ("max_new_tokens", 0), ("cfg_scale", -1), ("steps", 0)])
def test_numbers_that_the_command_line_refuses_by_itself(diffusion, name, value, tmp_path):
    _, theirs = both(diffusion, tmp_path, name, value)
    assert "expected" in theirs and f'found "{value}"' in theirs


def test_folders_are_refused_in_the_words_of_the_program(tmp_path):
    for name, text in (("empty", ""), ("broken", "{"), ("other", '{"architectures": ["GPT2LMHeadModel"]}'), ("list", "[]")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(text)
        with pytest.raises(buoy.InputError) as error:
            buoy.load(folder, device="cpu")
        assert str(in_parts(error.value)) in refused("generate", "--model", folder, "--prompt", "x", "--device", "cpu")


def test_question_files_are_refused_in_the_words_of_the_program(diffusion, tmp_path):
    for name, text in (("broken", "{"), ("empty", ""), ("other", '{"a": 1}\n'), ("numbers", '{"question": 5, "answers": ["x"]}\n')):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(text)
        with pytest.raises(buoy.InputError) as error:
            diffusion.evaluate(file, max_new_tokens=4)
        theirs = refused("eval", "--model", diffusion.folder, "--data", file, "--max-new-tokens", 4, "--device", "cpu", "--out", tmp_path / "run")
        in_parts(error.value)
        assert str(error.value).split(", found")[0] in theirs, (str(error.value), theirs)


def test_traces_are_refused_in_the_words_of_the_program(tmp_path):
    for bad in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(buoy.Error) as error:
            buoy.analyze.absorption(bad)
        assert str(in_parts(error.value)) in refused("analyze", "absorption", bad)
    with pytest.raises(buoy.TraceError) as error:
        buoy.open(tmp_path)
    in_parts(error.value)


class OnACard:
    """A tensor whose memory numpy cannot reach."""

    shape, ndim = (4,), 1

    def __array__(self, *_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()")

    def __dlpack_device__(self):
        return (2, 0)

    def __len__(self):
        return 4


@pytest.mark.parametrize("call", [
    lambda m: m.generate(OnACard(), max_new_tokens=2), lambda m: m(OnACard()), lambda m: m.run_with_cache(OnACard()),
    lambda m: m.lens(OnACard()), lambda m: m.score(OnACard(), [5]), lambda m: m.steer(layer=0, vector=OnACard()),
    lambda m: m.patch(layer=0, states=OnACard()), lambda m: m.steer(layer=0, vector=np.ones(m.d_model), positions=OnACard()),
    lambda m: m.changed(steer={0: OnACard()}).__enter__(), lambda m: next(iter(m.steps(IDS, max_new_tokens=2))).reveal(OnACard()),
    lambda m: next(iter(m.steps(IDS, max_new_tokens=2))).remask(OnACard()),
    lambda m: next(iter(m.steps(IDS, max_new_tokens=2))).scale_keys(OnACard(), 0),
])
def test_arrays_on_another_device(tiny_diffusion, call):
    with pytest.raises(buoy.UsageError) as error:
        call(tiny_diffusion)
    assert "host" in in_parts(error.value).expected and "cuda:0" in error.value.found


@pytest.mark.parametrize("call", [
    lambda m: m(np.ones((2, 3), dtype=int)), lambda m: m(np.ones(3)), lambda m: m([[1], [2]]), lambda m: m([1.5]), lambda m: m([True, "a"]),
    lambda m: m.generate(np.ones((2, 2), dtype=int)), lambda m: m.generate(np.ones(3)), lambda m: m.generate(np.array(["a"])),
    lambda m: m.lens(np.ones(m.d_model + 1)), lambda m: m.lens("text"), lambda m: m.lens(np.ones((0, m.d_model))),
    lambda m: m.lens(np.ones(m.d_model), top=1.5), lambda m: m.lens(np.ones(m.d_model), top=0),
    lambda m: m.steer(layer=0, vector=np.ones((2, 2, m.d_model))), lambda m: m.steer(layer=0, vector=np.array(["a"] * m.d_model)),
    lambda m: m.patch(layer=0, states=np.ones((2, m.d_model)), positions=[1]),
])
def test_arrays_of_the_wrong_shape_or_type(tiny, call):
    with pytest.raises(buoy.UsageError) as error:
        call(tiny)
    in_parts(error.value)


@pytest.mark.parametrize("act", [
    lambda s: s.reveal(np.ones((2, 2), dtype=int)), lambda s: s.reveal([0.5]), lambda s: s.reveal(["a"]), lambda s: s.reveal([0]),
    lambda s: s.reveal({"a": 5}), lambda s: s.reveal({4: None}), lambda s: s.reveal({4: 1.5}), lambda s: s.reveal({4: -1}),
    lambda s: s.reveal({4: True}), lambda s: s.remask(["a"]), lambda s: s.remask([0.5]), lambda s: s.choose(5),
    lambda s: s.scale_heads({0: 1}), lambda s: s.scale_heads([1]), lambda s: s.scale_heads({(0, 0): "off"}), lambda s: s.scale_heads({(0, 99): 0}),
    lambda s: s.scale_keys([99], 0), lambda s: s.scale_keys([0], "off"), lambda s: s.scale_keys([0], -1), lambda s: s.scale_keys("nowhere", 0),
    lambda s: s.scale_keys([0], 0, layers=[99]), lambda s: s.scale_keys([0], 0, layers=["a"]),
    lambda s: s.scale_keys(buoy.Array.of(np.zeros((1, 1, 1), dtype=int), ("layer", "head", "rank")), 0),
    lambda s: s.scale_mlps({99: 0}), lambda s: s.back_to(5), lambda s: s.back_to(-1), lambda s: s.steer(layer=0, vector=[1.0]),
])
def test_what_a_step_refuses(tiny_diffusion, act):
    for step in tiny_diffusion.steps(IDS, max_new_tokens=4):
        with pytest.raises(buoy.UsageError) as error:
            act(step)
        in_parts(error.value)
        break
    assert tiny_diffusion.generate(IDS, max_new_tokens=4).ids.size == 4


@pytest.mark.parametrize("edit", [{0: 5}, {99: 5}, {4: 10**6}])
def test_edits_that_cannot_be_made_end_the_loop(tiny_diffusion, edit):
    with pytest.raises(buoy.UsageError) as error:
        for step in tiny_diffusion.steps(IDS, max_new_tokens=3):
            step.reveal(edit)
    in_parts(error.value)


def test_questions_of_the_made_up_world(program, tmp_path):
    ours = buoy.world_questions(tmp_path / "ours", version=1, people="asked", passages=3, count=4, seed=7)
    program("world", "--people", "asked", "--passages", 3, "--count", 4, "--seed", 7, "--out", tmp_path / "theirs")
    assert open(ours).read() == (tmp_path / "theirs").read_text()
    for options in ({"people": "nobody"}, {"task": "none"}, {"count": 0}, {"count": -1}, {"count": "many"}, {"version": 3}, {"other": 1},
                    {"version": 1, "task": "list"}, {"version": 2, "two_hop": True}, {"two_hop": 1, "version": 1}, {"people": 5}):
        with pytest.raises(buoy.UsageError) as error:
            buoy.world_questions(tmp_path / "refused", **options)
        in_parts(error.value)
    assert not (tmp_path / "refused").exists()
    with pytest.raises(buoy.Error):
        buoy.world_questions(tmp_path / "no/such/folder")


def test_a_closed_trace(diffusion, tmp_path):
    diffusion.trace(PROMPT, tmp_path / "trace", max_new_tokens=4, observe="received")
    trace = buoy.open(tmp_path / "trace")
    sample = trace[0]
    kept = sample["received"]
    trace.close()
    for look in (lambda: trace[0], lambda: list(trace), lambda: sample["received"], lambda: sample.received, lambda: sample.to_dict(),
                 lambda: sample.top_keys(layer=0)):
        with pytest.raises(buoy.TraceError) as error:
            look()
        assert "open" in in_parts(error.value).expected and "closed" in error.value.found
    assert kept.sum() > 0


def test_a_broken_file_of_a_trace(diffusion, tmp_path):
    diffusion.trace(PROMPT, tmp_path / "trace", max_new_tokens=4, observe="received")
    file = tmp_path / "trace/samples/prompt.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(buoy.TraceError) as error:
        buoy.open(tmp_path / "trace")[0]
    in_parts(error.value)
    file.unlink()
    with pytest.raises(buoy.TraceError) as error:
        buoy.open(tmp_path / "trace")[0]
    in_parts(error.value)


def test_studies_and_reports_that_are_none(tmp_path):
    (tmp_path / "study.toml").write_text("title = 5")
    for call in (lambda: buoy.study(tmp_path / "study.toml"), lambda: buoy.study(tmp_path / "nothing.toml"),
                 lambda: buoy.report([], tmp_path / "report"), lambda: buoy.report([tmp_path / "nothing"], tmp_path / "report")):
        with pytest.raises(buoy.Error):
            call()


def test_a_family_that_is_not_known_is_refused_by_name(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
    with pytest.raises(buoy.InputError) as error:
        buoy.load(tmp_path)
    assert "GPT2LMHeadModel" in in_parts(error.value).found


def test_whether_a_change_may_name_steps_is_said_by_the_rule_that_decodes():
    model = buoy.load(ROOT / "tests/data/families/open-dcoder-f32", device="cpu")
    with model.changed(scale_heads={(0, 0): 0.0}, steps=[1, 2]):
        assert model.generate(IDS, max_new_tokens=4, decoding_rule="open_dcoder", mask_token=50).ids.shape == (4,)
        with pytest.raises(buoy.UsageError, match="no steps"):
            model.generate(IDS, max_new_tokens=4)
