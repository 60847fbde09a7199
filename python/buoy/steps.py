"""The denoising loop in one's own hands: look, choose, take back, change the model, go back and branch."""

import numpy as np

from ._native import native
from ._request import position_list
from .changes import add_vector, factor_text, made_changes
from .errors import usage
from .run import Run
from .arrays import Array, dims_of

__all__ = ["Step", "Steps"]

MASK = "\u2591"  # how a position without a token is shown


class Steps:
    """The steps of one answer. A loop over it runs the model; what the body of the loop leaves alone, the model's own rule
    decides, with the same result to the bit as :meth:`buoy.Model.generate`.

    >>> import buoy
    >>> m = buoy.load(buoy.example_model("planted-diffusion"))
    >>> loop = m.steps("Question: Who employs Klados Hebwick?\\nAnswer:", max_new_tokens=8)
    >>> for step in loop:
    ...     step.reveal([step.confidence.argmax()])     # the most certain position, one at a time
    >>> loop.run.text
    ' Emirex Group'
    """

    def __init__(self, model, decoding, observe, final_row=True):
        self._model = model
        self._decoding = decoding
        self._mask = decoding.mask_token   # None: autoregressive
        self._observe = observe
        self._final_row = final_row
        self._seen = {}       # step: arrays that its forward showed
        self._last = None     # of the step before: its number, its reveals, the row that it found. Not the step, which knows
                              # the loop: two that hold each other would hold the model until Python looks for such rings
        self._stopped = False
        self._run = None

    def __iter__(self):
        while not self._stopped and not self._decoding.finished:
            step = Step(self, self._decoding.step)
            yield step
            step._take()

    @property
    def finished(self):
        return self._stopped or self._decoding.finished

    @property
    def text(self):
        """The answer as it stands."""
        return self._text()

    def _text(self, row=None):
        d = self._decoding
        return self._model._row_text((d.row if row is None else row)[d.prompt_length:], self._mask)

    @property
    def run(self):
        """The run, as far as it went: an answer with masks where none was revealed. What was observed of its steps is
        stacked, one row a step."""
        if self._run is None or not self.finished:
            seen = {n: held for n, held in sorted(self._seen.items()) if n < self._decoding.step}
            if self._observe and self._mask is None:
                seen = {0: self._decoding.last_look(self._observe)}
            elif self._observe and self._final_row:
                seen[self._decoding.step] = self._decoding.last_look(self._observe)
            self._run = Run(self._decoding.frame(self._observe, _stacked(seen)))
        return self._run


class Step:
    """One step of the loop, before it is taken. Its forward runs when something of it is looked at, or at the end; changes
    to the model (`scale_keys`, `scale_heads`, `scale_mlps`, `steer`, `patch`) must come before."""

    def __init__(self, loop, index):
        self._loop = loop
        self._decoding = loop._decoding
        self.index = index
        self.previous = None if loop._last is None else Step._past(loop, *loop._last)
        self._edits = None
        self._done = False
        self._found = None    # the row before it, when it was taken
        self._proposed = None
        self.reveals = None   # when it was taken: [(position, token, confidence)]

    @classmethod
    def _past(cls, loop, index, reveals, found):
        """A step that was taken, of which only what its forward showed is left."""
        out = cls.__new__(cls)
        out.__dict__.update(_loop=loop, _decoding=loop._decoding, index=index, previous=None, _edits=None, _done=True,
                            _proposed=None, reveals=reveals, _found=found)
        return out

    def __repr__(self):
        return f"<buoy.Step {self.index}: {self.text!r}>"

    def _require_open(self):
        if self._done:
            raise usage("step", "the one under way", f"step {self.index}, which was taken")

    # What there is to see.

    @property
    def row(self):
        """Ids of the whole row: the prompt, then the answer with masks."""
        self._require_open()
        return Array.of(np.array(self._decoding.row, dtype=np.int32), ("token",))

    @property
    def ids(self):
        """Ids of the answer, masks included."""
        return self.row[self._decoding.prompt_length:]

    @property
    def text(self):
        """The answer as this step finds it; positions without a token as \u2591."""
        return self._loop._text(self._found)

    @property
    def masked(self):
        """Positions that wait for a token and may get one in this step."""
        return self._proposals()[0]

    @property
    def confidence(self):
        """For every position of the row, how probable its most probable token is; 0 where no token is due. Of an
        autoregressive model the row has one position more, the next."""
        return self._spread(2, 0.0, np.float64)

    @property
    def best(self):
        """For every position, the most probable token; -1 where no token is due."""
        return self._spread(1, -1, np.int32)

    @property
    def logits(self):
        """[masked, vocabulary], float32."""
        self._require_open()
        self._run()
        return Array.of(self._decoding.logits(), ("masked", "vocabulary"))

    def _run(self):
        if not self._decoding.ran:
            observe = self._loop._observe if self._loop._mask is not None else ""
            self._decoding.forward(observe)
            if observe:
                self._loop._seen[self.index] = self._decoding.observed()

    def _proposals(self):
        if self._proposed is None:
            self._require_open()
            self._run()
            self._proposed = self._decoding.proposals()
        return self._proposed

    def _spread(self, which, nothing, dtype):
        positions = self._proposals()[0]
        length = max(len(self._decoding.row), int(positions.max()) + 1 if len(positions) else 0)
        out = np.full(length, nothing, dtype=dtype)
        out[positions] = self._proposals()[which]
        return Array.of(out, ("token",))

    def keys(self):
        """Names of what was observed."""
        return list(self._arrays().names)

    def _arrays(self, name="received"):
        held = self._loop._seen.get(self.index)
        if held is None and not self._done:
            self._run()
            held = self._loop._seen.get(self.index)
        if held is not None and (name in held.names or not self._done):
            return held
        # Nobody asked for it when the forward ran: it runs once more, and from now on it is observed.
        if self._loop._mask is None:
            raise usage("`observe`", "a masked-diffusion model: an autoregressive row is observed when it is finished",
                        repr(name))
        wanted = native.observable_of(name)
        if wanted is None:
            raise KeyError(name)
        loop = self._loop
        if wanted not in loop._observe.split(","):
            loop._observe = ",".join(filter(None, [loop._observe, wanted]))
        held = self._decoding.observe_again(self.index, loop._observe)
        self._loop._seen[self.index] = held
        return held

    def __getitem__(self, name):
        """What this step's forward showed, without an axis of steps: ``step["received"]`` has the axes layer, group, head
        and token."""
        held = self._arrays(name)
        if name not in held.names:
            raise KeyError(f"step {self.index}: no array {name}; observe={name!r} asks for it; there are {', '.join(held.names)}")
        values = held.array(name)
        dims = dims_of(name, values.ndim)
        return Array.of(values[0], dims[1:]) if dims[0] == "step" else Array.of(values, dims)

    def __getattr__(self, name):
        if name.startswith("_") or native.observable_of(name) is None:
            raise AttributeError(f"Step has no attribute {name!r}")
        return self[name]

    # What may be done.

    def reveal(self, positions):
        """These positions get a token, and no others in this step: a list, of the most probable tokens; or
        ``{position: token}``, an id or a text that is one token. Nothing in it: nothing is revealed."""
        self.skip()
        if isinstance(positions, dict):
            for position, token in zip(position_list(list(positions), "position"), positions.values()):
                self._edit(position, self._token(token), 0.0)
            return
        open_positions, best, confidence = self._proposals()
        at = {int(p): i for i, p in enumerate(open_positions)}
        for position in position_list(positions):
            if position not in at:
                raise usage("position", f"one that waits for a token, of {sorted(at)}", repr(position))
            self._edit(position, int(best[at[position]]), float(confidence[at[position]]))

    def choose(self, token):
        """The next token of an autoregressive model, an id or a text; ``{position: token}`` of others."""
        if isinstance(token, dict):
            return self.reveal(token)
        if self._loop._mask is not None:
            raise usage("token", "{position: token}, for any position may be next", repr(token))
        self._require_open()
        self._edit(len(self._decoding.row), self._token(token), 0.0)

    def remask(self, positions):
        """Takes tokens back. An autoregressive row loses all from the first of them on."""
        self._require_open()
        positions = position_list(positions)
        if positions and self._loop._mask is None:
            positions = [min(positions)]
        for position in positions:
            self._edit(position, -1, 0.0)

    def skip(self):
        """Nothing is revealed in this step."""
        self._require_open()
        self._edits = self._edits or []

    def stop(self):
        """The loop ends here, without this step."""
        self._loop._stopped = True

    def scale_keys(self, keys, factor, layers=None):
        """In this step's forward, the weight of keys is multiplied before it is normalised; 0 hides them. `keys`: positions,
        the name of a region, or what ``topk`` gives, with axes layer, head and rank."""
        self._require_open()
        d = self._decoding
        factor = float(factor_text(factor, "factor"))
        layers = None if layers is None else position_list(list(layers), "layers")
        dims = getattr(keys, "dims", None)
        if dims in (("layer", "head", "rank"), ("layer", "rank")):
            expected = (self._loop._model.n_layers, self._loop._model.n_heads)[:len(dims) - 1]
            if keys.shape[:-1] != expected:
                raise usage("keys", f"shape {list(expected)} and ranks", str(list(keys.shape)))
            wanted = range(keys.shape[0]) if layers is None else layers
            for layer in wanted:
                for at in np.ndindex(keys.shape[1:]):
                    d.scale_key(layer, at[0] if len(at) == 2 else -1, int(keys[(layer, *at)]), factor)
            return
        if isinstance(keys, str):
            names, of_token = d.regions
            if keys not in names:
                raise usage("keys", f"a region of {', '.join(names)}, or positions", repr(keys))
            keys = [p for p, region in enumerate(of_token) if region == names.index(keys)]
        for layer in [-1] if layers is None else layers:
            for position in position_list(keys, "keys"):
                d.scale_key(layer, -1, position, factor)

    def scale_heads(self, heads):
        """In this step's forward, the output of heads is multiplied: ``{(layer, head): factor}``."""
        self._require_open()
        try:
            wanted = [(int(layer), int(head), float(factor)) for (layer, head), factor in heads.items()]
        except (AttributeError, TypeError, ValueError):
            raise usage("heads", "{(layer, head): factor}", repr(heads)[:80]) from None
        for one in wanted:
            self._decoding.scale_head(*one)

    def scale_mlps(self, mlps):
        """In this step's forward, what MLPs add to the residual stream is multiplied: ``{layer: factor}``."""
        self._change(made_changes(self._loop._model, scale_mlps=mlps))

    def steer(self, *, layer, vector, positions=None, at="post", scale=1.0):
        """In this step's forward, a vector is added to the residual stream; as :meth:`buoy.Model.steer`."""
        self._vectors(False, layer=layer, vector=vector, positions=positions, at=at, scale=scale)

    def patch(self, *, layer, states, positions=None, at="post"):
        """In this step's forward, states take the place of the residual stream; as :meth:`buoy.Model.patch`."""
        self._vectors(True, layer=layer, vector=states, positions=positions, at=at)

    def _vectors(self, replace, **options):
        made = native.Changes()
        add_vector(made, self._loop._model, replace, **options)
        self._change(made)

    def _change(self, made):
        self._require_open()
        self._decoding.change(made)

    def back_to(self, index):
        """The loop goes on from before an earlier step."""
        self._require_open()
        self._found = self._decoding.row
        self._decoding.back_to(int(index))
        self._finish(None)
        loop = self._loop
        loop._seen = {n: held for n, held in loop._seen.items() if n < index}
        loop._last = (int(index) - 1, None, None) if index > 0 else None

    def branch(self):
        """Another loop that begins where this step does; both go their own way."""
        self._require_open()
        other = Steps(self._loop._model, self._decoding.branch(), self._loop._observe, self._loop._final_row)
        other._seen = dict(self._loop._seen)
        other._last = (self.index - 1, None, None) if self.index > 0 else None
        return other

    def _token(self, token):
        if isinstance(token, str):
            return self._loop._model.to_single_token(token)
        if isinstance(token, bool) or not isinstance(token, (int, np.integer)) or token < 0:
            raise usage("token", "an id, or a text that is one token", repr(token)[:80])
        return int(token)

    def _edit(self, position, token, confidence):
        self._edits = (self._edits or []) + [(position, token, confidence)]

    def _finish(self, reveals):
        self._done = True
        self.reveals = reveals

    def _take(self):
        if self._done or self._loop._stopped:
            return
        self._run()
        self._found = self._decoding.row
        reveals = self._decoding.advance() if self._edits is None else self._decoding.advance_edited(self._edits)
        self._finish(reveals)
        self._loop._last = (self.index, self.reveals, self._found)


def _stacked(seen):
    """Arrays of all steps, one row a step: ``[(name, values)]`` of those that every step has; `seen`: by step."""
    out = []
    names = [set(held.names) for held in seen.values()]
    first = next(iter(seen.values()), None)
    for name in first.names if first is not None else []:
        if not all(name in others for others in names):
            continue
        values = [held.array(name) for held in seen.values()]
        if name == "steps":
            out.append((name, np.array(list(seen), dtype=np.int32)))
        elif dims_of(name, values[0].ndim)[0] == "step":
            out.append((name, np.concatenate(values)))
        elif "_step0_" in name:
            out += [(name.replace("_step0_", f"_step{step}_"), one) for step, one in zip(seen, values)]
        else:
            out.append((name, values[0]))
    return out
