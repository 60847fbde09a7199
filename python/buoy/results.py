"""Analyses of traces as tables and figures; reports and studies."""

import json
import os

from ._native import native
from .errors import usage
from .figures import Figure, Figures
from .progress import Shown
from .trace import Trace

__all__ = ["Table", "Tables", "analyze", "report", "study"]


class Table:
    """A table of results: ``columns`` (names), ``meanings``, ``rows``."""

    def __init__(self, text):
        read = json.loads(text)
        self.name, self.title, self.rows = read["name"], read["title"], read["rows"]
        self.columns = [column["name"] for column in read["columns"]]
        self.meanings = {column["name"]: column.get("meaning", "") for column in read["columns"]}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, column):
        if column not in self.columns:
            raise KeyError(f"{self.name}: no column {column}; there are {', '.join(self.columns)}")
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def to_dict(self):
        """Columns by name, as lists."""
        return {column: self[column] for column in self.columns}

    def to_pandas(self):
        import pandas
        return pandas.DataFrame(self.rows, columns=self.columns)

    def __repr__(self):
        return f"<buoy.Table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"


class Tables:
    """What an analysis makes: tables by name; the first one answers for all. ``figures``: the same, drawn."""

    def __init__(self, tables, analysed=None):
        self.tables = {table.name: table for table in tables}
        self._analysed = analysed
        self._drawn = None

    def __getitem__(self, name):
        if name not in self.tables:
            raise KeyError(f"no table {name}; there are {', '.join(self.tables)}")
        return self.tables[name]

    def __iter__(self):
        return iter(self.tables.values())

    def __len__(self):
        return len(self.tables)

    def keys(self):
        return list(self.tables)

    def _table(self, name):
        return self[name] if name is not None else next(iter(self))

    def to_pandas(self, name=None):
        """A table, by default the first, as a data frame."""
        return self._table(name).to_pandas()

    def to_dict(self, name=None):
        """A table, by default the first, as columns."""
        return self._table(name).to_dict()

    def _figures(self):
        if self._drawn is None:
            self._drawn = self._analysed.figures() if self._analysed is not None else ([], [], [])
        return self._drawn

    @property
    def figures(self):
        """The figures of a report's section, drawn when they are first asked for; see :class:`buoy.Figure`."""
        return Figures(Figure(*one) for one in self._figures()[0])

    @property
    def readings(self):
        """What the numbers say, a sentence each."""
        return list(self._figures()[1])

    @property
    def left_out(self):
        """What could not be drawn, and why, a sentence each."""
        return list(self._figures()[2])

    def __repr__(self):
        return "<buoy.Tables " + ", ".join(f"{table.name} ({len(table)} rows)" for table in self) + ">"


def _folder(trace):
    if isinstance(trace, Trace):
        return os.fspath(trace.folder)
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace)
    raise usage("trace", "a folder, or what buoy.open() gives", repr(trace)[:80])


def _folders(traces):
    if isinstance(traces, dict):
        return [f"{label}={_folder(trace)}" for label, trace in traces.items()]
    if isinstance(traces, (list, tuple)):
        return [_folder(trace) for trace in traces]
    return [_folder(traces)]


class _Analyses:
    """The analyses of `buoy analyze`, as functions of a trace, a list of them, or ``{label: trace}``."""

    def __call__(self, name, traces, *, limit=0, resamples=0, progress=None):
        """The tables of the analysis of this name."""
        with Shown(progress) as shown:
            analysed = native.analyze(name, _folders(traces), limit, resamples, shown.callback)
        return Tables([Table(text) for text in analysed.tables], analysed)

    def __getattr__(self, name):
        if name.startswith("_") or name not in dir(self):
            raise AttributeError(f"no analysis {name}; there are {', '.join(dir(self))}" if not name.startswith("_") else name)

        def analysis(traces, **options):
            return self(name, traces, **options)
        analysis.__name__ = name
        analysis.__doc__ = next(f"{title}. Needs traces with observe={observe!r}." for one, title, observe in native.analyses()
                                if one == name)
        return analysis

    def __dir__(self):
        return [name for name, _, _ in native.analyses()]


analyze = _Analyses()


def report(traces, out, *, title="", evaluations=(), progress=None):
    """Every analysis of one or more traces on one page: ``out/report.html``, with tables and figures beside it. Returns the
    path of the page."""
    with Shown(progress) as shown:
        native.report(_folders(traces), [os.fspath(one) for one in evaluations], title, os.fspath(out), shown.callback)
    return os.path.join(os.fspath(out), "report.html")


def study(file, *, out="", threads=0, device="auto", progress=None):
    """Runs a whole study that a TOML file describes, to one report; goes on where it was interrupted."""
    with Shown(progress) as shown:
        native.study(os.fspath(file), os.fspath(out), threads, device, shown.callback)
