from os import PathLike
from typing import Union

from .changes import Change as Change
from .errors import Error as Error, InputError as InputError, InternalError as InternalError, IoError as IoError, UsageError as UsageError
from .comparison import Comparison as Comparison, compare as compare
from .evaluation import Estimate as Estimate, Evaluation as Evaluation, world_questions as world_questions
from .figures import Figure as Figure, Figures as Figures
from .model import Model as Model, load as load
from .progress import show_progress as show_progress
from .results import Table as Table, Tables as Tables, analyze as analyze, report as report, study as study
from .run import Run as Run
from .steps import Step as Step, Steps as Steps
from .trace import Array as Array, Sample as Sample, Trace as Trace, TraceError as TraceError

def open(folder: Union[str, PathLike[str]], check: bool = ...) -> Trace: ...
def version() -> str: ...
def example_model(name: str = ...) -> str: ...
