"""What is changed in a model while it runs: heads, keys, MLPs and the residual stream, in the words of the program's options."""

import os

import numpy as np

from ._native import native
from ._request import host_array, number_list
from .errors import usage

POINTS = ("pre", "mid", "post")


def factor_text(value, name):
    """A factor as text; what is no number is refused."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise usage(f"`{name}`", "a factor", repr(value))
    return repr(float(value))


def _when(steps):
    return f"/{number_list(steps, 'steps')}" if steps is not None else ""


def head_texts(scale_heads, steps):
    """`{(3, 1): 0}` as "3.1=0.0"."""
    out = []
    for head, factor in dict(scale_heads or {}).items():
        if not isinstance(head, tuple) or len(head) != 2:
            raise usage("`scale_heads`", "(layer, head), as in {(3, 1): 0}", repr(head))
        out.append(f"{int(head[0])}.{int(head[1])}{_when(steps)}={factor_text(factor, 'scale_heads')}")
    return out


def key_texts(scale_keys, layers, steps):
    """`{"query": 0.1}` as "query@0-7/0-3=0.1"."""
    out = []
    for where, factor in dict(scale_keys or {}).items():
        if not isinstance(where, str):
            where = number_list(where, "scale_keys")
        at = f"@{number_list(layers, 'layers')}" if layers is not None else ""
        out.append(f"{where}{at}{_when(steps)}={factor_text(factor, 'scale_keys')}")
    return out


def mlp_texts(scale_mlps, steps):
    """`{3: 0, (4, 5): 0.5}` as "3=0.0" and "4,5=0.5"."""
    return [f"{number_list(layers, 'scale_mlps')}{_when(steps)}={factor_text(factor, 'scale_mlps')}"
            for layers, factor in dict(scale_mlps or {}).items()]


def top_text(hide_top, layers, steps):
    """`5` as "5@0-7/1-3"; a text as the program's option has it stays."""
    if hide_top is None:
        return ""
    if isinstance(hide_top, str):
        if any(mark in hide_top for mark in "@/") and (layers is not None or steps is not None):
            raise usage("`hide_top`", "layers and steps said once", f"{hide_top!r} beside `layers` or `steps`")
        parts = hide_top.partition("=")
    else:
        if isinstance(hide_top, bool) or not isinstance(hide_top, (int, np.integer)):
            raise usage("`hide_top`", "how many keys, as in 5, or a text, as in '5@3.1,4.0/1-8=0.1'", repr(hide_top))
        parts = (str(int(hide_top)), "", "")
    at = f"@{number_list(layers, 'layers')}" if layers is not None else ""
    return f"{parts[0]}{at}{_when(steps)}{parts[1]}{parts[2]}"


def _option(value, name):
    if value is None or isinstance(value, str):
        return value or ""
    raise usage(f"`{name}`", "a text", repr(value))


def layer_list(layer, count, name):
    """A layer, counted from the end where it is negative, or several."""
    if isinstance(layer, (int, np.integer)) and not isinstance(layer, bool):
        if not -count <= layer < count:
            raise usage(f"`{name}`", f"layers 0 to {count - 1}", str(layer))
        layer = layer % count
    return number_list(layer, name)


def _numbers(values, width, name):
    """float32, [width] or [positions, width]."""
    found = host_array(values, f"`{name}`")
    if found.ndim not in (1, 2) or found.shape[-1] != width or found.size == 0 or found.dtype.kind not in "fiu":
        raise usage(f"`{name}`", f"numbers of shape [{width}] or [positions, {width}]", f"shape {list(found.shape)} of {found.dtype}")
    return np.ascontiguousarray(found, dtype=np.float32)


def _places(positions, values, name):
    """The name of a place, its positions in order, and values in the same order."""
    if positions is None:
        return "all", [], values
    if isinstance(positions, str):
        return positions, [], values
    found = np.atleast_1d(host_array(positions, "`positions`"))
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu" or found.min() < 0:
        raise usage("`positions`", "whole numbers from 0, or the name of a region", repr(positions))
    order = np.argsort(found, kind="stable")
    if (np.diff(found[order]) == 0).any():
        raise usage("`positions`", "none twice", repr(positions))
    if values.ndim == 2 and len(values) not in (1, len(found)):
        raise usage(f"`{name}`", f"one vector, or one for each of {len(found)} positions", f"{len(values)} vectors")
    if values.ndim == 2 and len(values) == len(found):
        values = np.ascontiguousarray(values[order])
    return ",".join(map(str, found[order].tolist())), found[order].tolist(), values


def add_vector(changes, model, replace, *, layer, vector, positions=None, steps=None, at="post", scale=1.0):
    """A vector for the residual stream, or a file of one: added (`replace` False), or in its place."""
    name = "patch" if replace else "steer"
    if at not in POINTS:
        raise usage("`at`", f"one of {', '.join(POINTS)}", repr(at))
    layers = layer_list(layer, model.n_layers, "layer")
    factor = float(factor_text(scale, "scale"))
    if isinstance(vector, (str, os.PathLike)):
        where = "all" if positions is None else positions if isinstance(positions, str) else number_list(positions, "positions")
        times = "" if replace or factor == 1 else f"{factor!r}*"
        changes.add_file(f"{where}@{layers}:{at}{_when(steps)}={times}{os.fspath(vector)}", replace)
        return
    values = _numbers(vector, model.d_model, name)
    where, places, values = _places(positions, values, name)
    if factor != 1:
        values = values * np.float32(factor)
    changes.add_vectors(where, places, layers, number_list(steps, "steps") if steps is not None else "", at, replace, values)


def _add_all(changes, model, replace, given, steps, at):
    name = "patch" if replace else "steer"
    if not hasattr(given, "items"):
        raise usage(f"`{name}`", "{layer: vector} or {(layer, positions): vector}", repr(given)[:80])
    for where, vector in given.items():
        layer, positions = where if isinstance(where, tuple) and len(where) == 2 else (where, None)
        add_vector(changes, model, replace, layer=layer, vector=vector, positions=positions, steps=steps, at=at)


def made_changes(model, *, scale_heads=None, scale_keys=None, scale_mlps=None, steer=None, patch=None, hide_top=None,
                 hide_top_of=None, hide_control=None, layers=None, steps=None, at="post"):
    """All of it as the compiled half holds it, checked against the model."""
    made = native.Changes(head_texts(scale_heads, steps), key_texts(scale_keys, layers, steps), mlp_texts(scale_mlps, steps),
                          top_text(hide_top, layers, steps), _option(hide_top_of, "hide_top_of"),
                          _option(hide_control, "hide_control"))
    _add_all(made, model, False, steer or {}, steps, at)
    _add_all(made, model, True, patch or {}, steps, at)
    if not made.any:
        raise usage("changed()", "scale_heads, scale_keys, scale_mlps, steer, patch or hide_top", "none of them")
    made.check(model._handle)
    return made


class Change:
    """A change that is in force: until ``remove()``, or the end of its ``with`` block."""

    def __init__(self, stack, made):
        self._stack = stack
        self._made = made
        stack.append(made)

    def remove(self):
        """Ends it. A second time changes nothing."""
        self._stack[:] = [one for one in self._stack if one is not self._made]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def __repr__(self):
        in_force = any(one is self._made for one in self._stack)
        return f"<buoy.Change {'; '.join(self._made.texts)}{'' if in_force else ' (removed)'}>"
