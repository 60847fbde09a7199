"""The compiled half, found when it is first needed: traces are read without it."""

import importlib


class _Native:
    def __getattr__(self, name):
        try:
            module = importlib.import_module("buoy._buoy")
        except ImportError as error:
            raise ImportError(f"buoy needs its compiled half for this (`make python` or `pip install .`); reading traces does "
                              f"not: {error}") from error
        return getattr(module, name)


native = _Native()
