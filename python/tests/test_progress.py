"""How far long work is, and Ctrl-C in the middle of it."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import buoy
from buoy import progress
from conftest import PROMPT, ROOT

PROMPTS = [PROMPT, "Question: Where does Klados Hebwick live?\nAnswer:", "Who?"]
TEMPLATE = str(ROOT / "models/planted.prompt")


class Told:
    """A function that notes how far the work was."""

    def __init__(self):
        self.calls = []

    def __call__(self, done, total):
        self.calls.append((done, total))

    def require(self, total):
        assert self.calls[-1] == (total, total), "it ends when all is done"
        assert [done for done, _ in self.calls] == sorted(done for done, _ in self.calls)
        assert {of for _, of in self.calls} == {total}


@pytest.mark.parametrize("options", [{}, {"observe": "received"}, {"on_step": lambda step: None}])
def test_a_list_of_prompts(diffusion, options):
    told = Told()
    diffusion.generate(PROMPTS, max_new_tokens=4, progress=told, **options)
    told.require(3)


@pytest.mark.parametrize("options", [{}, {"observe": "received"}])
def test_one_prompt_counts_its_steps(diffusion, autoregressive, options):
    for model in (diffusion, autoregressive):
        told = Told()
        model.generate(PROMPT, max_new_tokens=24, progress=told, **options)
        told.require(24)


def test_a_keyboard_interrupt_ends_a_watched_autoregressive_run(autoregressive):
    """Its row is observed at the end; it ends before."""
    assert interrupted(lambda: autoregressive.generate([5] * 20, max_new_tokens=20000, observe="received", eos_tokens=[0], allow_long=True)) < 10


@pytest.mark.parametrize("options", [{}, {"on_step": lambda step: None}])
def test_questions(diffusion, questions, options):
    told = Told()
    diffusion.evaluate(questions, template=TEMPLATE, max_new_tokens=4, limit=4, progress=told, **options)
    told.require(4)


def test_traces_analyses_and_reports(diffusion, tmp_path):
    traced, analysed, reported = Told(), Told(), Told()
    trace = diffusion.trace(PROMPTS, tmp_path / "trace", max_new_tokens=4, progress=traced)
    traced.require(3)
    buoy.analyze.absorption(trace, progress=analysed)
    analysed.require(3)
    buoy.report(trace, tmp_path / "report", progress=reported)
    assert reported.calls and reported.calls[-1][0] <= reported.calls[-1][1]


def test_what_a_function_raises_ends_the_work(diffusion, questions):
    def fail(done, total):
        raise RuntimeError("mine")

    for call in (lambda: diffusion.generate(PROMPTS, max_new_tokens=16, observe="received", progress=fail),
                 lambda: diffusion.evaluate(questions, template=TEMPLATE, max_new_tokens=8, progress=fail),
                 lambda: diffusion.generate(PROMPTS, max_new_tokens=4, on_step=lambda step: None, progress=fail)):
        with pytest.raises(RuntimeError, match="mine"):
            call()
    assert diffusion.generate(PROMPT, max_new_tokens=8).text


def test_values_that_are_none(diffusion):
    for wrong in ("yes", 1, []):
        with pytest.raises(buoy.UsageError, match="progress"):
            diffusion.generate(PROMPT, max_new_tokens=2, progress=wrong)
        with pytest.raises(buoy.UsageError, match="progress"):
            buoy.show_progress(wrong)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    """Progress of the first moment is shown too, and the switch is put back."""
    monkeypatch.setattr(progress, "_EARLIEST", 0)
    monkeypatch.setattr(progress, "_INTERVAL", 0)
    yield
    buoy.show_progress()


def shown_on(stream, monkeypatch, **options):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Shown(**options) as shown:
        if shown.callback is not None:
            shown.callback("2 of 3: asking", "questions", 3, 8)
    return stream.getvalue()


def test_a_terminal_gets_a_line_that_is_cleared(at_once, monkeypatch):
    text = shown_on(Terminal(), monkeypatch)
    assert "2 of 3: asking: questions 3/8, 0 s so far" in text and text.endswith("\r\033[K")


def test_nothing_elsewhere_unless_it_is_wanted(at_once, monkeypatch):
    assert shown_on(io.StringIO(), monkeypatch) == ""
    assert "questions 3/8" in shown_on(io.StringIO(), monkeypatch, progress=True)
    assert shown_on(Terminal(), monkeypatch, progress=False) == ""
    buoy.show_progress(False)
    assert shown_on(Terminal(), monkeypatch) == ""
    assert "questions 3/8" in shown_on(Terminal(), monkeypatch, progress=True)
    buoy.show_progress(True)
    assert "questions 3/8" in shown_on(io.StringIO(), monkeypatch)


def test_short_work_shows_nothing(monkeypatch):
    assert shown_on(Terminal(), monkeypatch) == ""


def test_work_that_is_over_when_it_is_first_heard_of_shows_nothing(at_once, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with progress.Shown() as shown:
        shown.callback("", "prompts", 1, 1)
    assert stream.getvalue() == ""


def test_a_notebook_gets_a_bar_that_goes(at_once, monkeypatch):
    pytest.importorskip("IPython")
    import IPython
    shown = []

    class Handle:
        def update(self, bundle, raw=False):
            assert raw
            shown.append(bundle)

    class Kernel:
        kernel = object()

    monkeypatch.setattr(IPython, "get_ipython", lambda: Kernel())
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: Handle())
    with progress.Shown() as told:
        told.callback("", "<questions>", 3, 8)
    assert '<progress value="3" max="8"' in shown[0]["text/html"] and "&lt;questions&gt; 3/8" in shown[0]["text/html"]
    assert "<questions> 3/8" in shown[0]["text/plain"]
    assert shown[-1] == {"text/plain": "", "text/html": ""}


STUDY = """
title = "Interrupted"
[models]
diffusion = "{root}/models/planted-diffusion"
[decoding]
max_new_tokens = 8
[prompt]
with_passages = "{root}/models/planted.prompt"
chat = "never"
[[data]]
name = "known"
world = {{ people = "asked", passages = 3, count = {count} }}
[[trace]]
name = "short"
data = "known"
[report]
analyses = ["absorption"]
"""


def write_study(folder, count):
    file = folder / "study.toml"
    file.write_text(STUDY.format(root=ROOT, count=count))
    return file


def test_a_study_says_how_far_it_is(tmp_path):
    stages = []

    class Noting(progress.Shown):
        def __call__(self, stage, label, done, total):
            stages.append((stage, label, done, total))

    from buoy import _buoy
    _buoy.study(str(write_study(tmp_path, 3)), str(tmp_path / "out"), 0, "cpu", Noting(True))
    assert (tmp_path / "out/report/report.html").exists()
    assert any(stage.startswith("1 of ") and "tracing diffusion on known" in stage for stage, *_ in stages), stages
    assert any("report" in stage for stage, *_ in stages)


def interrupted(work, when=lambda: True):
    """Seconds until Ctrl-C ended it. It comes half a second after `when`."""
    come = []

    def interrupt():
        while not when():
            time.sleep(0.05)
        time.sleep(0.5)
        come.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        work()
    return time.monotonic() - come[0]


def test_a_keyboard_interrupt_ends_a_study_which_goes_on_later(tmp_path):
    file = write_study(tmp_path, 2000)
    journal = tmp_path / "out/traces"
    assert interrupted(lambda: buoy.study(file, out=tmp_path / "out", device="cpu"), journal.exists) < 20
    assert not (tmp_path / "out/report").exists()


def test_a_keyboard_interrupt_ends_a_report(diffusion, tmp_path):
    """Many traces of the same bytes: analysing them takes a while."""
    trace = diffusion.trace(PROMPTS[:1] * 40, tmp_path / "trace", max_new_tokens=16, observe="received,entropy")
    traces = {f"trace {n}": trace for n in range(12)}
    assert interrupted(lambda: buoy.report(traces, tmp_path / "report")) < 20
    assert not (tmp_path / "report/report.html").exists()


def test_a_keyboard_interrupt_ends_an_evaluation(diffusion, tmp_path):
    file = buoy.world_questions(tmp_path / "questions.jsonl", version=1, people="asked", passages=3, count=2000)
    assert interrupted(lambda: diffusion.evaluate(file, template=TEMPLATE, max_new_tokens=8)) < 20
    assert diffusion.generate(PROMPT, max_new_tokens=8).text


def test_nothing_is_shown_by_a_script():
    """Standard error of a program that nobody watches stays empty."""
    code = ("import buoy; buoy.progress._EARLIEST = 0; m = buoy.load(buoy.example_model('planted-diffusion')); "
            "m.generate(['Who?'] * 4, max_new_tokens=4)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(buoy.__file__)), "BUOY_MODELS": str(ROOT / "models")})
    assert done.returncode == 0 and done.stderr == "" and done.stdout == ""
