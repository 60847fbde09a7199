"""What run_with_cache gives, by the names of TransformerLens."""

import fnmatch
import re

from .errors import usage
from .arrays import Array

_PATTERN = re.compile(r"blocks\.(?P<layer>[0-9]+)\.attn\.hook_(?P<what>pattern|attn)")
_OTHERS = {
    "resid_pre": "the residual stream", "resid_mid": "the residual stream", "resid_post": "the residual stream",
    "mlp_out": "the output of an MLP", "attn_out": "the output of attention", "z": "the output of heads",
    "q": 'queries: generate(observe="states")', "k": 'keys: generate(observe="states")', "v": 'values: generate(observe="states")',
    "attn_scores": "scores: run_with_cache has the pattern, which is their softmax",
}


def refuse(what):
    """What is not there, and what to use instead."""
    known = _OTHERS.get(what.replace("hook_", ""))
    raise NotImplementedError(f"cache: expected 'pattern' (blocks.N.attn.hook_pattern), found {what!r}"
                              + (f": {known} is not in a cache of this version" if known else ""))


def pattern_layers(names, layers):
    """The layers whose attention patterns these names want."""
    if isinstance(names, str):
        names = [names]
    if callable(names):
        wanted = [f"blocks.{n}.attn.hook_pattern" for n in range(layers) if names(f"blocks.{n}.attn.hook_pattern")]
        return [int(_PATTERN.fullmatch(name)["layer"]) for name in wanted]
    out = set()
    for name in names:
        found = [n for n in range(layers) if fnmatch.fnmatchcase(f"blocks.{n}.attn.hook_pattern", name)]
        if not found:
            numbered = _PATTERN.fullmatch(name)
            if numbered:
                raise usage("layer", f"0 to {layers - 1}", numbered["layer"])
            refuse(name.rsplit(".", 1)[-1])
        out.update(found)
    return sorted(out)


class ActivationCache:
    """``cache["pattern", 3]`` or ``cache["blocks.3.attn.hook_pattern"]``: [head, query, key]."""

    def __init__(self, model, patterns):
        self._model = model
        self._patterns = patterns

    def keys(self):
        return [f"blocks.{layer}.attn.hook_pattern" for layer in sorted(self._patterns)]

    def __len__(self):
        return len(self._patterns)

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
            what, layer = name[0], name[1]
        else:
            numbered = _PATTERN.fullmatch(name)
            if not numbered:
                refuse(name.rsplit(".", 1)[-1])
            what, layer = "pattern", int(numbered["layer"])
        if what not in ("pattern", "attn"):
            refuse(what)
        layer = layer + self._model.n_layers if layer < 0 else layer
        if layer not in self._patterns:
            raise KeyError(f"cache: the pattern of layer {layer} was not asked for; there are {', '.join(self.keys()) or 'none'}")
        return Array.of(self._patterns[layer], ("head", "query", "key"))
