"""The Python of the README and of docs/python.md runs, line by line, where a reader would run it: in a checkout."""

import contextlib
import io
import os
import re
import shlex

import pytest

from conftest import ROOT


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A scratch folder with the models and studies of a checkout."""
    for name in ("models", "studies"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(code, names, where):
    """What the code prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, where, "exec"), names)
    return out.getvalue()


def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme(checkout, program):
    text = readme()
    block = re.search(r"\*\*Python\.\*\*.*\n\n((?:    .*\n)+)", text)
    assert block, "the README has lines of Python"
    # The trace that it opens is the one that its lines for the shell made.
    made, = re.findall(r"^    \S*/buoy (trace .* --out demo)$", text, re.MULTILINE)
    program(*shlex.split(made), "--device", "cpu")
    code = re.sub("^    ", "", block[1], flags=re.MULTILINE)
    said = run(code, {}, "README.md").splitlines()
    promised = [comment for comment in re.findall(r"#\s+(\(.*\))", code)]
    assert promised and all(any(one in line for line in said) for one in promised), said
    assert said[0].startswith(" Emirex Group") and said[1].startswith("prompt (")


def blocks():
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_page(checkout):
    """From top to bottom, as one session; its comments promise what comes out."""
    found = blocks()
    assert len(found) >= 6
    names = {}
    # A whole study takes minutes: test_progress.py runs a small one.
    for number, code in enumerate(found):
        code = code.replace('buoy.study("studies/quick.toml", out="study")', 'studied = buoy.study')
        run(code, names, f"docs/python.md, block {number}")
    run_ = names["run"]
    assert run_.text == " Emirex Group" and run_["received"].dims == ("step", "layer", "group", "head", "token")
    assert names["loop"].finished and (checkout / "traces/driven/manifest.json").exists()
    assert names["with_sinks"].mean("exact_match").value == 1 and len(names["without"]) == 4
    assert (checkout / "report/report.html").exists() and names["tokens"].shape[-1] == 5
    assert os.path.exists("questions.jsonl") and names["t"].complete
