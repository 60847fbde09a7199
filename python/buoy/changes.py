"""What is changed in a model's attention while it runs: heads and keys, in the words of `--scale-heads` and `--scale-keys`."""

import numpy as np

from ._request import number_list
from .errors import usage


def _factor(value, name):
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise usage(f"`{name}`", "a factor", repr(value))
    return repr(float(value))


def head_texts(scale_heads, steps):
    """`{(3, 1): 0}` as "3.1=0.0"."""
    out = []
    for head, factor in dict(scale_heads or {}).items():
        if not isinstance(head, tuple) or len(head) != 2:
            raise usage("`scale_heads`", "(layer, head), as in {(3, 1): 0}", repr(head))
        when = f"/{number_list(steps, 'steps')}" if steps is not None else ""
        out.append(f"{int(head[0])}.{int(head[1])}{when}={_factor(factor, 'scale_heads')}")
    return out


def key_texts(scale_keys, layers, steps):
    """`{"query": 0.1}` as "query@0-7/0-3=0.1"."""
    out = []
    for where, factor in dict(scale_keys or {}).items():
        if not isinstance(where, str):
            where = number_list(where, "scale_keys")
        at = f"@{number_list(layers, 'layers')}" if layers is not None else ""
        when = f"/{number_list(steps, 'steps')}" if steps is not None else ""
        out.append(f"{where}{at}{when}={_factor(factor, 'scale_keys')}")
    return out
