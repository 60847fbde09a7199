"""Buoy in Python: models, their denoising loops and traces.

    import buoy
    m = buoy.load("GSAI-ML/LLaDA-8B-Instruct")
    run = m.generate("Who wrote Faust?", chat=True, max_new_tokens=32, observe="received,entropy")
    run.text, run["received"].dims

Traces are read with numpy alone (:mod:`buoy.trace`); everything else needs the compiled half.
"""

import os as _os

from .changes import Change
from .comparison import Comparison, compare
from .errors import Error, InputError, InternalError, IoError, UsageError
from .evaluation import Estimate, Evaluation, world_questions
from .figures import Figure, Figures
from .model import Model, load
from .progress import show_progress
from .results import Table, Tables, analyze, report, study
from .run import Run
from .steps import Step, Steps
from .trace import Array, Sample, Trace, TraceError

__all__ = ["Array", "Change", "Comparison", "Error", "Estimate", "Evaluation", "Figure", "Figures", "InputError", "InternalError",
           "IoError", "Model", "Run", "Sample", "Step", "Steps", "Table", "Tables", "Trace", "TraceError", "UsageError",
           "analyze", "compare", "example_model", "load", "open", "report", "show_progress", "study", "version",
           "world_questions"]


def open(folder, check=True):
    """Opens a stored trace; its samples answer like runs. `check`: compares checksums."""
    return Trace(folder, check=check)


def version():
    """The version of Buoy, and the commit it was built from."""
    from ._native import native
    return f"{native.version()} ({native.commit()})"


def example_model(name="natural-diffusion"):
    """The folder of a bundled model (natural-diffusion, natural-autoregressive, planted-diffusion, planted-autoregressive), or
    a prompt template beside it (natural.prompt): of a checkout (or BUOY_MODELS)."""
    here = _os.path.dirname(_os.path.realpath(__file__))
    for folder in filter(None, [_os.environ.get("BUOY_MODELS"), _os.path.join(here, "..", "..", "models"), "models"]):
        found = _os.path.realpath(_os.path.join(folder, name))
        if _os.path.exists(found):
            return found
    raise InputError(f"example_model: expected models/{name} (BUOY_MODELS names another place), found none")
