"""Reads the traces Buoy writes, with numpy and the standard library alone.

    trace = Trace("out")
    for sample in trace:
        received = sample["received"]        # Array [steps, layers, groups, heads, tokens]
        print(sample.id, sample.token_texts, received.dims, received.shape)

A sample answers like a run of a model (:class:`buoy.Run`): the same names, the same axes. docs/trace-format.md says what
the arrays are.
"""

import hashlib
import json
import math
import re
import weakref
from pathlib import Path

import numpy as np

from .arrays import Array, dims_of
from .errors import InputError

__all__ = ["Array", "SampleView", "Sample", "Trace", "TraceError"]

VERSION = 4
_PIECE = 1 << 22
_TYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I32": np.dtype("<i4"), "U8": np.dtype("u1")}
_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


class TraceError(InputError):
    """A trace that is missing, damaged, closed, or of a newer version."""


class SampleView:
    """What a run and a stored sample have in common. Arrays by name: ``run["received"]``."""

    metadata = {}

    def keys(self):
        """Names of the arrays."""
        raise NotImplementedError

    def _array(self, name):
        raise NotImplementedError

    def _where(self):
        return self.id

    @property
    def id(self):
        return self.metadata["id"]

    def __contains__(self, name):
        return name in self.keys()

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, name):
        if name not in self.keys():
            raise KeyError(f"{self._where()}: no array {name}; there are {', '.join(sorted(self.keys()))}")
        values = self._array(name)
        return Array.of(values, dims_of(name, values.ndim))

    def __getattr__(self, name):
        if not name.startswith("_") and name in self.keys():
            return self[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; arrays: {', '.join(sorted(self.keys()))}")

    def texts(self, key):
        """A list of texts: token_texts, region_names, group_names."""
        return json.loads(self.metadata[key])

    @property
    def text(self):
        """The answer, for a reader."""
        return self.metadata.get("answer_text")

    @property
    def prompt(self):
        """The whole prompt as the model read it; None where it was given as ids."""
        return self.metadata.get("prompt_text")

    @property
    def prompt_length(self):
        return int(self.metadata["prompt_length"])

    @property
    def ids(self):
        """Ids of the generated tokens."""
        return self["tokens"][self.prompt_length:]

    @property
    def token_texts(self):
        """The text of every token of the row; None without a tokenizer."""
        return self.texts("token_texts") if "token_texts" in self.metadata else None

    @property
    def region_names(self):
        return self.texts("region_names")

    @property
    def group_names(self):
        return self.texts("group_names")

    def top_keys(self, layer, step=-1, k=5, head=None):
        """The keys that receive most: ``[(position, token, share), ...]``, the share of all attention that is given.
        `layer` and `step` are indices into what was observed; of one head, or all of them."""
        received = self["received"].sel(step=step, layer=layer)
        received = np.asarray(received.sum("group") if head is None else received.sel(head=head).sum("group"))
        received = received.astype("f8").reshape(-1, received.shape[-1]).sum(axis=0)
        texts = self.token_texts
        order = np.argsort(-received, kind="stable")[:k]
        total = received.sum()
        return [(int(p), texts[p] if texts else None, float(received[p] / total)) for p in order]

    def to_dict(self):
        """Everything as plain lists, numbers and texts."""
        return {"id": self.id, "metadata": dict(self.metadata), "arrays": {name: self[name].tolist() for name in self.keys()}}


class Sample(SampleView):
    """One sample file. Arrays are read-only views of the mapped file: only what is used is read."""

    def __init__(self, path):
        self.path = Path(path)
        try:
            data = np.memmap(self.path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise TraceError(f"{self.path}: {error}") from error
        length = int.from_bytes(data[:8].tobytes(), "little")
        if data.size < 8 or length > data.size - 8:
            raise TraceError(f"{self.path}: expected a safetensors file, found a header of {length} bytes")
        try:
            header = json.loads(data[8:8 + length].tobytes().decode("utf-8"))
            self.metadata = header.pop("__metadata__", {})
            self._entries = {name: (entry["dtype"], tuple(entry["shape"]), *entry["data_offsets"])
                             for name, entry in header.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise TraceError(f"{self.path}: expected a safetensors header, found {error!r}") from error
        self._data = data[8 + length:]
        if self.metadata.get("format") != "buoy-trace-sample":
            raise TraceError(f"{self.path}: expected format buoy-trace-sample, found {self.metadata.get('format')}")

    def keys(self):
        return list(self._entries)

    def _where(self):
        return self.path

    def _array(self, name):
        if self._data is None:
            raise TraceError(f"{self.path}: expected an open trace, found one that was closed")
        dtype, shape, begin, end = self._entries[name]
        if dtype not in _TYPES:
            raise TraceError(f"{self.path}: {name}: expected one of {', '.join(_TYPES)}, found {dtype}")
        size = math.prod(shape) * _TYPES[dtype].itemsize
        if not 0 <= begin <= end <= self._data.size or end - begin != size:
            raise TraceError(f"{self.path}: {name}: expected {size} bytes, found [{begin}, {end}) of "
                             f"{self._data.size}")
        return np.asarray(self._data[begin:end]).view(_TYPES[dtype]).reshape(shape)

    def shares(self, name):
        """What codes stand for: shares("mean"), shares("head"), shares("row") of a compact trace, as float32."""
        codes, scales = self[f"{name}_codes"], self[f"{name}_scales"].astype("f4")
        low, high = scales[..., :1], scales[..., 1:]
        ratio = np.divide(high, low, out=np.ones_like(high), where=low > 0)
        return np.where(codes > 0, low * ratio ** ((codes.astype("f4") - 1) / 254), np.float32(0))

    def close(self):
        """Arrays that were taken stay valid; no others can be taken."""
        self._data = None

    def _repr_html_(self):
        from .run import explored, tokens_html
        return explored([self]) or tokens_html(self)


class Trace:
    """A trace folder, finished or not (see `complete`)."""

    def __init__(self, folder, check=True):
        """With `check`, a sample's checksum is compared when it is opened."""
        self.folder = Path(folder)
        self.check = check
        path = self.folder / "manifest.json"
        if not path.is_file():
            raise TraceError(f"{self.folder}: expected a trace: a folder with manifest.json, found none")
        try:
            self.manifest = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise TraceError(f"{path}: expected JSON, found {error}") from error
        if not isinstance(self.manifest, dict) or self.manifest.get("format") != "buoy-trace":
            raise TraceError(f"{path}: expected format buoy-trace, found another file")
        version = self.manifest.get("version")
        if not isinstance(version, int) or not 1 <= version <= VERSION:
            raise TraceError(f"{path}: this reader knows versions 1 to {VERSION}, the trace is version {version}")
        self.complete = self.manifest.get("complete") is True
        entries = self.manifest["samples"] if self.complete else self._read_journal()
        for entry in entries:
            if not isinstance(entry.get("id"), str) or not _ID.fullmatch(entry["id"]):
                raise TraceError(f"{path}: expected a sample id, found {entry.get('id')!r}")
        self.samples = entries
        self._open = weakref.WeakSet()
        self._closed = False
        self._by_id = {entry["id"]: entry for entry in entries}

    def _read_journal(self):
        """What an unfinished run has so far; the last line may be torn, later lines replace earlier ones."""
        path = self.folder / "samples.jsonl"
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1] if path.is_file() else []
        try:
            found = {entry["id"]: entry for entry in map(json.loads, lines)}
        except (ValueError, KeyError, TypeError) as error:
            raise TraceError(f"{path}: expected one sample per line, found {error!r}") from error
        return [found[id] for id in self.manifest["planned"] if id in found]

    def __len__(self):
        return len(self.samples)

    def __iter__(self):
        """The samples that are done, in order."""
        return (self[entry["id"]] for entry in self.samples if entry["status"] == "done")

    @property
    def ids(self):
        """Of the samples that are done, in order."""
        return [entry["id"] for entry in self.samples if entry["status"] == "done"]

    def close(self):
        """Arrays that were taken stay valid; no others can be taken."""
        self._closed = True
        for sample in self._open:
            sample.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getitem__(self, id):
        """A sample by its id, or by its number among those that are done."""
        if self._closed:
            raise TraceError(f"{self.folder}: expected an open trace, found one that was closed")
        if isinstance(id, (int, np.integer)):
            if not -len(self.ids) <= id < len(self.ids):
                raise IndexError(f"{self.folder}: expected a number below {len(self.ids)}, found {id}")
            id = self.ids[id]
        if id not in self._by_id:
            raise KeyError(f"{self.folder}: no sample {id}")
        entry = self._by_id[id]
        if entry["status"] != "done":
            raise TraceError(f"{self.folder}: sample {id} failed: {entry.get('error')}")
        path = self.folder / "samples" / f"{id}.safetensors"
        if not path.is_file():
            raise TraceError(f"{path}: expected {entry['bytes']} bytes, found no such file")
        if path.stat().st_size != entry["bytes"]:
            raise TraceError(f"{path}: expected {entry['bytes']} bytes, found {path.stat().st_size}")
        if self.check:
            kind, sum = ("tree_sha256", _tree_sha256) if "tree_sha256" in entry else ("checksum", _sha256)
            found = sum(path)
            if found != entry.get(kind):
                raise TraceError(f"{path}: expected SHA-256 {entry.get(kind)} ({kind}), found {found}")
        sample = Sample(path)
        self._open.add(sample)
        return sample

    def verify(self):
        """Everything that is wrong, one line each."""
        problems = []
        if not self.complete:
            problems.append(f"{self.folder}: unfinished: {len(self)} of {len(self.manifest['planned'])} samples")
        for entry in self.samples:
            if entry["status"] == "done":
                try:
                    sample = self[entry["id"]]
                    for name in sample.keys():
                        sample[name]
                except TraceError as error:
                    problems.append(str(error))
        return problems


def _sha256(path):
    """Of the whole file, as version 1 has it."""
    sum = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            sum.update(piece)
    return sum.hexdigest()


def _tree_sha256(path):
    """Of the SHA-256 digests of its pieces."""
    sum = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            sum.update(hashlib.sha256(piece).digest())
    return sum.hexdigest()
