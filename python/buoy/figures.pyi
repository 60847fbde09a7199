from os import PathLike
from typing import Any, List, Union

class Figure:
    name: str
    caption: str
    told: str
    svg: str
    dark_svg: str
    def __init__(self, name: str, caption: str, told: str, svg: str, dark_svg: str) -> None: ...
    def save(self, file: Union[str, PathLike[str]]) -> None: ...

class Figures(List[Figure]):
    def __getitem__(self, which: Any) -> Any: ...
