"""Numpy arrays whose axes have names."""

import re

import numpy as np

__all__ = ["Array", "dims_of"]

# Axes of every array, by the name of the array; a test compares them with Buoy's own schema.
_DIMS = {}
for _dims, _names in {
        "token": "tokens revealed_at region_of_token evidence special template ends",
        "step token": "tokens_by_step", "step": "steps step_kinds", "step bound": "rows_run", "reveal field": "reveals",
        "layer": "layers", "row": "row_positions",
        "step group": "group_sizes",
        "step layer group head token": "received", "step layer group head region": "mass",
        "step layer head token": "contribution entropy log_sum_exp first_share query_norm head_norm head_codes "
                                 "qk_after_dot qk_after_cosine qk_after_norm_product qk_after_self_dot "
                                 "qk_before_dot qk_before_cosine qk_before_norm_product qk_before_self_dot",
        "step layer kv_head token": "key_norm value_norm key_cosine value_cosine",
        "step layer row head token": "row_weights", "step layer row head region": "row_mass",
        "step layer row head": "evidence_mass", "step layer row head rank": "top_keys top_weights",
        "step layer token": "mean_codes router_entropy", "step layer token choice": "routed_experts routed_weights",
        "step layer expert": "expert_load", "step layer bound": "mean_scales", "step layer group region": "mean_mass",
        "step layer rank": "mean_top_keys mean_top_weights", "step layer head bound": "head_scales",
        "step layer row token": "row_codes", "step layer row bound": "row_scales",
        "head query key": "dense", "query key": "dense_mean", "token head d_head": "queries",
        "token kv_head d_head": "keys values", "byte": "state",
        "step layer row": "residual_norm attention_out_norm mlp_out_norm residual_peak residual_peak_at residual_cosine",
        "step layer row rank": "lens_tokens lens_probabilities", "row d_model": "residual", "row head d_head": "head_out",
        "step answer": "predicted_confidence predicted_entropy predicted_margin",
        "step answer rank": "predicted_tokens predicted_probabilities"}.items():
    _DIMS.update(dict.fromkeys(_names.split(), tuple(_dims.split())))
_NUMBERED = re.compile(r"(.*)_step[0-9]+_layer[0-9]+|(state)_[a-z]+")


def dims_of(name, ndim):
    """The axes of an array of a trace; of one that is not known, numbers."""
    numbered = _NUMBERED.fullmatch(name)
    dims = _DIMS.get((numbered[1] or numbered[2]) if numbered else name)
    return dims if dims is not None and len(dims) == ndim else tuple(f"axis_{i}" for i in range(ndim))


class Array(np.ndarray):
    """A numpy array whose axes have names, in ``dims``. It is a view: no number is copied.

    >>> a = Array.of(np.arange(6.0).reshape(2, 3), ("head", "token"))
    >>> a.dims, a[1].dims, a.sel(token=2).tolist()
    (('head', 'token'), ('token',), [2.0, 5.0])
    >>> a.sum("head").tolist()
    [3.0, 5.0, 7.0]

    What numpy makes of it keeps the names as long as they are certain; otherwise ``dims`` is None.
    """

    dims = None
    _on_card = None  # the same numbers on the card that computed them; views have none

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """For ``torch.from_dlpack`` and others, without a copy: on the card where the numbers lie there, else on the host.
        ``numpy.asarray`` always takes those on the host."""
        if self._on_card is None:
            options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
            return super().__dlpack__(**{name: value for name, value in options.items() if value is not None})
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("expected no copy, on the card that holds the numbers; numpy.asarray gives those on the host")
        return self._on_card.dlpack()  # complete before this array was made: no stream has to wait

    def __dlpack_device__(self):
        return super().__dlpack_device__() if self._on_card is None else (2, 0)

    @staticmethod
    def of(values, dims):
        """A view of `values` with these names of axes."""
        out = np.asarray(values).view(Array)
        if len(dims) != out.ndim:
            raise ValueError(f"dims: expected {out.ndim} names, found {tuple(dims)}")
        out.dims = tuple(dims)
        return out

    def __array_finalize__(self, parent):
        dims = getattr(parent, "dims", None)
        self.dims = dims if dims is not None and parent.shape == self.shape else None

    def __getitem__(self, index):
        out = super().__getitem__(index)
        if self.dims is not None and isinstance(out, Array):
            out.dims = _dims_after(self.dims, index, out.ndim)
        return out

    def transpose(self, *axes):
        out = super().transpose(*axes)
        if self.dims is not None:
            order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
            out.dims = tuple(self.dims[i] for i in order) if order else self.dims[::-1]
        return out

    @property
    def T(self):
        return self.transpose()

    def axis(self, dim):
        """The number of the axis of this name."""
        if self.dims is None or dim not in self.dims:
            raise ValueError(f"dims: expected one of {self.dims}, found {dim!r}")
        return self.dims.index(dim)

    def sel(self, **where):
        """Indices by the names of axes: ``received.sel(layer=3, head=0)``."""
        index = [slice(None)] * self.ndim
        for dim, one in where.items():
            index[self.axis(dim)] = one
        return self[tuple(index)]

    def _reduced(self, function, axis, **options):
        names = (axis,) if isinstance(axis, str) else axis
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            return function(np.asarray(self), axis=axis, **options)
        axes = tuple(self.axis(name) for name in names)
        out = function(np.asarray(self), axis=axes, **options)
        return Array.of(out, [dim for dim in self.dims if dim not in names]) if out.ndim else out

    def sum(self, axis=None, **options):
        """As numpy's, where `axis` may be the name of an axis or several."""
        return self._reduced(np.sum, axis, **options)

    def mean(self, axis=None, **options):
        """As numpy's, where `axis` may be the name of an axis or several."""
        return self._reduced(np.mean, axis, **options)

    def max(self, axis=None, **options):
        """As numpy's, where `axis` may be the name of an axis or several."""
        return self._reduced(np.max, axis, **options)

    def min(self, axis=None, **options):
        """As numpy's, where `axis` may be the name of an axis or several."""
        return self._reduced(np.min, axis, **options)

    def topk(self, k, per="head"):
        """Positions of the `k` largest along the tokens, largest first, for every layer and head (``per="head"``), every
        layer (``per="layer"``), or once (``per=None``); other axes but steps are summed over.

        >>> a = Array.of(np.array([[[1.0, 3, 2]], [[9, 1, 2]]]), ("layer", "head", "token"))
        >>> a.topk(2).tolist(), a.topk(2).dims
        ([[[1, 2]], [[0, 2]]], ('layer', 'head', 'rank'))
        >>> a.topk(1, per=None).tolist()
        [0]
        """
        kept = {"head": ("step", "layer", "head"), "layer": ("step", "layer"), None: ("step",)}
        if per not in kept:
            raise ValueError(f"per: expected 'head', 'layer' or None, found {per!r}")
        self.axis("token")
        over = tuple(dim for dim in self.dims if dim not in kept[per] + ("token",))
        values = self.sum(over) if over else self
        values = np.moveaxis(np.asarray(values), values.axis("token"), -1)
        order = np.argsort(-values, axis=-1, kind="stable")[..., :k]
        return Array.of(order, [dim for dim in self.dims if dim in kept[per]] + ["rank"])


def _dims_after(dims, index, ndim):
    """Names of axes after simple indexing; None after other kinds."""
    index = index if isinstance(index, tuple) else (index,)
    if any(one is Ellipsis for one in index):
        at = next(i for i, one in enumerate(index) if one is Ellipsis)
        index = index[:at] + (slice(None),) * (len(dims) - len(index) + 1) + index[at + 1:]
    out, left, lists = [], list(dims), 0
    for one in index:
        if one is None:
            out.append("new")
        elif isinstance(one, (int, np.integer)) and not isinstance(one, (bool, np.bool_)):
            left.pop(0)
        else:
            lists += not isinstance(one, slice)
            if np.ndim(one) > 1 or not left:
                return None
            out.append(left.pop(0))
    out += left
    return tuple(out) if lists <= 1 and len(out) == ndim else None
