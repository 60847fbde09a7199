"""What the tests share: models, the program, and the package that this build made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests/data/goldens"
PROMPT = "Question: Who employs Klados Hebwick?\nAnswer:"
FAMILIES = ["llada-f32", "dream-f32", "llama3-f32", "qwen2-f32", "qwen3-f32"]
DIFFUSION = ["llada-f32", "dream-f32"]

sys.path.insert(0, os.environ.get("BUOY_PACKAGE", str(ROOT / "build/python/python")))
import buoy  # noqa: E402


@pytest.fixture(scope="session")
def diffusion():
    return buoy.load(ROOT / "models/planted-diffusion", device="cpu")


@pytest.fixture(scope="session")
def autoregressive():
    return buoy.load(ROOT / "models/planted-autoregressive", device="cpu")


@pytest.fixture(params=FAMILIES, scope="session")
def tiny(request):
    """A random network of every family, without a tokenizer."""
    return buoy.load(GOLDENS / request.param, device="cpu")


@pytest.fixture(params=DIFFUSION, scope="session")
def tiny_diffusion(request):
    return buoy.load(GOLDENS / request.param, device="cpu")


@pytest.fixture(scope="session")
def program():
    """Runs the program that belongs to this build."""
    path = os.environ.get("BUOY_PROGRAM", str(ROOT / "build/python/bin/buoy"))

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def questions(tmp_path_factory, program):
    """Eight questions of the made-up world."""
    file = tmp_path_factory.mktemp("world") / "questions.jsonl"
    program("world", "--people", "asked", "--passages", 3, "--count", 8, "--out", file)
    return file
