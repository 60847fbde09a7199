"""From Python's arguments to what the compiled half reads: JSON."""

import json

import numpy as np

from .errors import usage


def number_list(values, name):
    """`range(4)`, `[0, 5]`, `3` or `"0-3,5"` as the text that Buoy reads."""
    if isinstance(values, str):
        return values
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return str(int(values))
    try:
        numbers = [int(value) for value in values]
    except (TypeError, ValueError):
        raise usage(f"`{name}`", "numbers, as in range(4) or '0-3,5'", repr(values)) from None
    if not numbers:
        raise usage(f"`{name}`", "at least one number", "none")
    return ",".join(map(str, numbers))


def name_list(values, name):
    """`"received,entropy"` or `["received", "entropy"]` as text; None: nothing."""
    if values is None:
        return ""
    if isinstance(values, str):
        return values
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise usage(f"`{name}`", "names, as in 'received,entropy'", repr(values))
    return ",".join(values)


def host_array(values, name):
    """As numpy sees it; what lies on a card, or is no array, is refused."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise usage(name, "an array that numpy can read, in the memory of the host", str(error)) from None


def position_list(positions, name="positions"):
    """Positions as a list of whole numbers."""
    found = np.atleast_1d(host_array(positions, name))
    if found.size == 0:
        return []
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise usage(name, "whole numbers in one dimension", f"shape {list(found.shape)} of {found.dtype}")
    return found.tolist()


def is_ids(prompt):
    if hasattr(prompt, "__array__"):
        prompt = host_array(prompt, "prompt")
        if prompt.ndim != 1 or not np.issubdtype(prompt.dtype, np.integer):
            raise usage("prompt", "a text, or token ids in one dimension of whole numbers",
                        f"an array {list(prompt.shape)} of {prompt.dtype}")
        return True
    return isinstance(prompt, (list, tuple)) and all(
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in prompt)


def prompt_keys(prompt, names=None):
    """What a prompt, or a list of prompts, comes to."""
    if isinstance(prompt, str):
        return {"prompts": [prompt], "names": names}
    if is_ids(prompt):
        if len(prompt) == 0:
            raise usage("prompt", "at least one token", "none")
        return {"ids": position_list(prompt, "prompt"), "names": names}
    if isinstance(prompt, (list, tuple)) and prompt and all(isinstance(one, str) for one in prompt):
        return {"prompts": list(prompt), "names": names}
    raise usage("prompt", "a text, a list of texts, or token ids", repr(prompt)[:80])


def plain(value):
    """Numpy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    return value


def request_text(keys):
    """The JSON of what was given."""
    out = {}
    for key, value in keys.items():
        if value is None:
            continue
        if key == "observe":
            value = name_list(value, key)
        elif key in ("layers", "steps_observed"):
            value = number_list(value, key)
        out[key] = plain(value)
    try:
        return json.dumps(out, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise usage("arguments", "numbers, texts and lists", str(error)) from None
