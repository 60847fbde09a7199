from typing import Any, List, Optional, Sequence, Tuple, overload

from .arrays import Array
from .evaluation import Estimate, Evaluation
from .trace import SampleView

class Comparison:
    a: SampleView
    b: SampleView
    labels: Optional[Tuple[str, str]]
    def __init__(self, a: SampleView, b: SampleView, labels: Optional[Sequence[str]] = ...) -> None: ...
    @property
    def same_prompt(self) -> bool: ...
    def keys(self) -> List[str]: ...
    def __getitem__(self, name: str) -> Array: ...

@overload
def compare(a: Evaluation, b: Evaluation, metric: str = ..., confidence: float = ..., labels: Optional[Sequence[str]] = ...) -> Estimate: ...
@overload
def compare(a: SampleView, b: SampleView, metric: str = ..., confidence: float = ..., labels: Optional[Sequence[str]] = ...) -> Comparison: ...
