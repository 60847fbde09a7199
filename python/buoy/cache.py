"""What run_with_cache gives, by the names of TransformerLens."""

import fnmatch
import re

from .errors import usage
from .arrays import Array

# Axes by name; the name of the hook is "blocks.N.hook_NAME", or "blocks.N.attn.hook_NAME" of what attention has inside.
DIMS = {
    "pattern": ("head", "query", "key"),
    "resid_pre": ("token", "d_model"), "resid_mid": ("token", "d_model"), "resid_post": ("token", "d_model"),
    "attn_out": ("token", "d_model"), "mlp_out": ("token", "d_model"),
    "z": ("token", "head", "d_head"), "result": ("token", "head", "d_model"),
    "rot_q": ("token", "head", "d_head"), "rot_k": ("token", "kv_head", "d_head"), "v": ("token", "kv_head", "d_head"),
}
_OUTSIDE = ("resid_pre", "resid_mid", "resid_post", "attn_out", "mlp_out")
_LARGE = ("result",)  # only where it is named
_ALIASES = {"attn": "pattern"}
_OTHERS = {
    "q": "queries are kept as the softmax sees them: rot_q", "k": "keys are kept as the softmax sees them: rot_k",
    "attn_scores": "the pattern is their softmax", "embed": "it is resid_pre of layer 0",
}
_HOOK = re.compile(r"blocks\.(?P<layer>[0-9]+)\.(?:attn\.)?hook_(?P<what>\w+)")


def hook_name(what, layer):
    """As TransformerLens spells it: ``blocks.3.attn.hook_pattern``."""
    return f"blocks.{layer}.{'' if what in _OUTSIDE else 'attn.'}hook_{what}"


def refuse(what):
    """What is not there, and what to use instead."""
    known = _OTHERS.get(what.replace("hook_", ""))
    raise NotImplementedError(f"cache: expected one of {', '.join(DIMS)}, found {what!r}" + (f": {known}" if known else ""))


def _split(name):
    """(what, layer) of a hook's whole name; None of another."""
    numbered = _HOOK.fullmatch(name)
    what = _ALIASES.get(numbered["what"], numbered["what"]) if numbered else None
    return (what, int(numbered["layer"])) if what in DIMS else None


def wanted_layers(names, layers):
    """``{what: [layers]}`` of the hooks that these names, with stars, or a function of a name, want; None: all that is not
    large."""
    hooks = {hook_name(what, layer): (what, layer) for what in DIMS for layer in range(layers)}
    if names is None:
        chosen = [one for one in hooks.values() if one[0] not in _LARGE]
    elif callable(names):
        chosen = [one for hook, one in hooks.items() if names(hook)]
    else:
        chosen = []
        for name in [names] if isinstance(names, str) else names:
            split = _split(name)
            found = [one for hook, one in hooks.items() if fnmatch.fnmatchcase(hook, name)]
            if not found and split is not None:
                if split[1] >= layers:
                    raise usage("layer", f"0 to {layers - 1}", str(split[1]))
                found = [split]
            if not found:
                refuse(name.rsplit(".", 1)[-1])
            chosen += found
    out = {}
    for what, layer in dict.fromkeys(chosen):
        out.setdefault(what, []).append(layer)
    return out


class ActivationCache:
    """``cache["resid_post", -1]`` or ``cache["blocks.3.attn.hook_pattern"]``: arrays with names of axes, without a batch."""

    def __init__(self, layers, arrays, on_card=None):
        self._layers = layers
        self._arrays = arrays
        self._on_card = on_card or {}

    def keys(self):
        return [hook_name(what, layer) for layer in range(self._layers) for what in DIMS if (what, layer) in self._arrays]

    def __len__(self):
        return len(self._arrays)

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        try:
            self[name]
        except (KeyError, NotImplementedError):
            return False
        return True

    def __getitem__(self, name):
        if isinstance(name, tuple):
            what, layer = _ALIASES.get(name[0], name[0]), name[1]
        else:
            what, layer = _split(name) or refuse(name.rsplit(".", 1)[-1])
        if what not in DIMS:
            refuse(what)
        layer = layer + self._layers if layer < 0 else layer
        if (what, layer) not in self._arrays:
            raise KeyError(f"cache: {hook_name(what, layer)} was not asked for; there are {', '.join(self.keys()) or 'none'}")
        out = Array.of(self._arrays[what, layer], DIMS[what])
        out._on_card = self._on_card.get((what, layer))
        return out
