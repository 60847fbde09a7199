"""A loaded model."""

import contextlib
import os
import threading

import numpy as np

from ._native import native
from ._request import host_array, is_ids, name_list, prompt_keys, request_text
from .cache import ActivationCache, wanted_layers
from .changes import Change, add_vector, made_changes
from .errors import UsageError, usage
from .evaluation import Evaluation
from .progress import Shown
from .run import Run
from .steps import MASK, Steps
from .arrays import Array

__all__ = ["Model", "load"]


def load(name, device="auto", threads=0, untrained=None):
    """Loads a model: a folder as Hugging Face lays it out, or an id in the local hub cache. Nothing is downloaded.

    `device`: "cpu", "cuda", or "auto" (cuda where there is one). `threads`: 0 takes all cores. `untrained`: a seed; the
    network before any training.

    >>> import buoy
    >>> m = buoy.load(buoy.example_model("planted-diffusion"))
    >>> m.family, m.n_layers, m.n_heads
    ('LLaDA', 6, 4)
    """
    return Model(native.ModelHandle.load(os.fspath(name), device, threads, untrained))


class Model:
    """A model with its tokenizer. Threads may share it: they take turns. ``del`` frees what it holds."""

    def __init__(self, handle):
        self._handle = handle
        self._config = handle.config
        self._changes = threading.local()

    from_pretrained = staticmethod(load)

    def __repr__(self):
        return (f"<buoy.Model {self.name}: {self.family}, {self.n_layers} layers of {self.n_heads} heads, on {self.device}>")

    # What it is.

    name = property(lambda self: self._handle.name, doc="Its id, or the name of its folder.")
    folder = property(lambda self: self._handle.folder)
    device = property(lambda self: self._handle.device, doc='"cpu" or "cuda".')
    config = property(lambda self: dict(self._config), doc="Sizes and special tokens, as a dict.")
    family = property(lambda self: self._config["family"])
    is_diffusion = property(lambda self: self._config["masked_diffusion"], doc="Whether it is a masked-diffusion model.")
    n_layers = property(lambda self: self._config["n_layers"])
    n_heads = property(lambda self: self._config["n_heads"])
    n_ctx = property(lambda self: self._config["n_ctx"], doc="The longest row it was made for.")
    d_model = property(lambda self: self._config["d_model"])
    d_vocab = property(lambda self: self._config["d_vocab"])
    mask_token = property(lambda self: self._config["mask_token"], doc="Id of the mask; None: there is none.")

    @property
    def tokenizer(self):
        """Turns texts into ids and back: ``encode``, ``decode``, ``token_text``, ``token_id``."""
        found = self._handle.tokenizer
        if found is None:
            raise usage(self.folder, "a tokenizer", "none")
        return found

    # Running it.

    def generate(self, prompt, *, observe=None, on_step=None, rule=None, names=None, progress=None, **options):
        """Lets the model write, and watches it.

        `prompt`: a text, token ids, or a list of texts (then a list of runs comes back). `observe`: what to observe, as
        in "received,entropy" or "all", the names of `buoy trace --observe`. `on_step`: called with every
        :class:`buoy.Step` before it is taken; `rule` likewise, where it is a decoding rule that chooses every token.
        Options: chat (True: demand the chat template, False: never), system, layers, steps_observed, groups, and those of
        decoding: max_new_tokens, seed, temperature, steps, block_length, algorithm, top_p, ... `progress` as in
        :func:`buoy.show_progress`, or a function of (done, total).

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-autoregressive"))
        >>> m.generate("Question: Who employs Klados Hebwick?\\nAnswer:", max_new_tokens=8).text
        ' Emirex Group'
        """
        on_step = _one_callback(on_step, rule)
        many = isinstance(prompt, (list, tuple)) and not is_ids(prompt)
        with Shown(progress) as shown:
            if on_step is None:
                request = self._request(prompt_keys(prompt, names), observe=observe, **options)
                runs = [Run(held) for held in self._handle.generate(request, self._changed(), shown.callback)]
                return runs if many else runs[0]
            runs = []
            for number in range(count := len(prompt) if many else 1):
                loop = self._steps(prompt, number, names, observe, options)
                for step in loop:
                    on_step(step)
                runs.append(loop.run)
                shown("", "prompts", len(runs), count)
            return runs if many else runs[0]

    def steps(self, prompt, *, observe=None, **options):
        """The same loop, step by step in one's own hands; see :class:`buoy.Steps`."""
        if not isinstance(prompt, str) and not is_ids(prompt):
            raise usage("prompt", "one text, or token ids", repr(prompt)[:80])
        return self._steps(prompt, 0, None, observe, options)

    def _steps(self, prompt, number, names, observe, options):
        request = self._request(prompt_keys(prompt, names), observe=observe, **options)
        decoding = native.Decoding.begin(self._handle, request, self._changed(), number)
        return Steps(self, decoding, name_list(observe, "observe"), options.get("final_row", True))

    def trace(self, prompt=None, out=None, *, data=None, limit=0, resume=False, observe="received,entropy", names=None,
              progress=None, **options):
        """As `buoy trace`: decodes prompts, or the questions of a file, and stores what was observed in the folder `out`."""
        from . import open as open_trace
        if (prompt is None) == (data is None):
            raise usage("prompt", "either a prompt or data", "both" if data else "neither")
        if out is None:
            raise usage("out", "a folder for the trace", "none")
        keys = prompt_keys(prompt, names) if data is None else {}
        with Shown(progress) as shown:
            self._handle.trace(self._request(keys, observe=observe, **options), self._changed(), os.fspath(out),
                               os.fspath(data) if data is not None else "", limit, resume, shown.callback)
        return open_trace(out)

    def evaluate(self, data, *, on_step=None, rule=None, observe=None, progress=None, **options):
        """Asks the questions of a JSON Lines file and scores the answers, as `buoy eval` does.

        `on_step`, `rule`: called with every step of every question. Options: limit, passages, closed_book, gold_position,
        template, closed_book_template, chat, system, and those of decoding. `progress` as of :meth:`generate`.
        """
        on_step = _one_callback(on_step, rule)
        request = self._request({"data": os.fspath(data), "name": os.path.basename(os.path.normpath(self.folder))},
                                observe=observe, **options)
        changes = self._changed()
        evaluation = native.Evaluation(self._handle, request, changes)
        with Shown(progress) as shown:
            if on_step is None and (changes.hides_top or not changes.any):
                return Evaluation(evaluation.ask_all(shown.callback))
            lines = []
            while (question := evaluation.next()) is not None:
                if isinstance(question, str):
                    lines.append(question)
                else:
                    for step in Steps(self, question, name_list(observe, "observe"), False):
                        if on_step is not None:
                            on_step(step)
                    lines.append(evaluation.answered(question))
                shown("", "questions", len(lines), evaluation.items)
        return Evaluation(lines)

    def score(self, prompt, continuation, *, order="left-to-right", decoding_rule=None):
        """Log-probabilities (natural) of the tokens of a continuation, one a token.

        Autoregressive: given all before it. Masked diffusion: the continuation is masked and revealed from left to right,
        a forward for each token; ``order="at-once"``: one forward, every token given the prompt alone (the form one-shot of
        `buoy score`); ``order="decoding"``: each when the decoding rule reveals its position (`decoding_rule` where a model
        has several).

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-autoregressive"))
        >>> good, bad = (m.score("Question: Who employs Klados Hebwick?\\nAnswer:", text).sum()
        ...              for text in (" Emirex Group", " Klados"))
        >>> bool(good > bad)
        True
        """
        if order not in ("left-to-right", "at-once", "decoding"):
            raise usage("`order`", "'left-to-right', 'at-once' or 'decoding'", repr(order))
        begin = self._ids(prompt)
        tokens = self._ids(continuation, special=False)
        if not tokens:
            raise usage("continuation", "at least one token", "none")
        positions = list(range(len(begin), len(begin) + len(tokens)))
        offset = self._config["prediction_offset"]
        changes = self._changed()
        ask = lambda row, at, of: native.log_probabilities(self._handle, row, at, of, offset, changes)
        if not self.is_diffusion:
            values = ask(begin + tokens, positions, tokens)
        elif order == "decoding":
            values = native.score_by_decoding(self._handle, begin, tokens, decoding_rule or "", changes)
        elif order == "at-once":
            values = ask(begin + [self.mask_token] * len(tokens), positions, tokens)
        else:
            values = []
            for n, token in enumerate(tokens):
                row = begin + tokens[:n] + [self.mask_token] * (len(tokens) - n)
                values += ask(row, [positions[n]], [token])
        return Array.of(np.array(values), ("token",))

    # Changing it.

    @contextlib.contextmanager
    def changed(self, *, scale_heads=None, scale_keys=None, scale_mlps=None, steer=None, patch=None, hide_top=None,
                hide_top_of=None, hide_control=None, layers=None, steps=None, at="post"):
        """Within this block the model is changed, at denoising `steps` (None: all): the output of heads,
        ``{(layer, head): factor}``; the weight of keys before it is normalised, ``{"query": 0.1}`` or ``{(0, 1, 2): 0}`` by
        region or positions, at `layers`; what MLPs add, ``{layer: factor}``; the residual stream, to which a vector is added
        (`steer`) or whose place it takes (`patch`), ``{layer: vector}`` or ``{(layer, positions): vectors}``, `at` "pre",
        "mid" or "post". Blocks add up. Of this thread alone.

        `hide_top` hides the keys that receive most, for every head, layer and step anew: how many, or a text of the program
        ("5@16-31", "1@3.1/1-8=0.1"). `hide_top_of`: what they receive it in, "step-before" (unless told), "rule:NAME" or
        "trace:FOLDER"; `hide_control`: others in their place, "random" or "mass" (docs/changes.md). Of one block at a time,
        and not in :meth:`steps`.

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-diffusion"))
        >>> _, cache = m.run_with_cache("Who?", names="blocks.3.hook_resid_post")
        >>> with m.changed(patch={(3, (0, 1)): cache["resid_post", 3][:2]}, scale_mlps={4: 0.5}):
        ...     m("Who?").shape == m("Who?").shape
        True
        >>> with m.changed(hide_top=5):
        ...     m.generate("Who?", max_new_tokens=4).ids.shape
        (4,)
        """
        made = made_changes(self, scale_heads=scale_heads, scale_keys=scale_keys, scale_mlps=scale_mlps, steer=steer, patch=patch,
                            hide_top=hide_top, hide_top_of=hide_top_of, hide_control=hide_control, layers=layers, steps=steps,
                            at=at)
        with Change(self._stack(), made):
            yield self

    def steer(self, *, layer, vector, positions=None, steps=None, at="post", scale=1.0):
        """From now on a vector, times `scale`, is added to the residual stream: until the ``remove()`` of what this returns,
        the end of its ``with`` block, or :meth:`reset_hooks`. Of this thread alone.

        `layer`: a number (-1: the last) or several. `vector`: [d_model], or one for each position, or a file that
        ``numpy.save`` wrote. `positions`: numbers, or a region ("answer"); None: all. `steps`: of the denoising; None: all.
        `at`: "post" behind the layer, "mid" between attention and MLP, "pre" before it.

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-diffusion"))
        >>> v = m.W_U[:, m.to_single_token(" Group")]
        >>> with m.steer(layer=-1, vector=v, scale=100.0):
        ...     int(m("Who?")[0, 0].argmax()) == m.to_single_token(" Group")
        True
        """
        return self._vectors(False, layer=layer, vector=vector, positions=positions, steps=steps, at=at, scale=scale)

    def patch(self, *, layer, states, positions=None, steps=None, at="post"):
        """As :meth:`steer`, but the states take the place of the residual stream: activation patching."""
        return self._vectors(True, layer=layer, vector=states, positions=positions, steps=steps, at=at)

    def reset_hooks(self):
        """Ends all steering and patching of this thread, and what ``changed`` has under way."""
        self._stack().clear()

    def _vectors(self, replace, **options):
        made = native.Changes()
        add_vector(made, self, replace, **options)
        made.check(self._handle)
        return Change(self._stack(), made)

    def _stack(self):
        return self._changes.__dict__.setdefault("stack", [])

    def _changed(self):
        out = native.Changes()
        for made in self._stack():
            out.add(made)
        return out

    def _request(self, keys, **options):
        for name in ("scale_heads", "scale_keys", "scale_mlps", "steer", "patch", "hide_top", "hide_top_of", "hide_control"):
            if name in options:
                raise usage(f"`{name}`", "with m.changed(...): around the call", "an argument")
        return request_text({**keys, **options})

    # As users of TransformerLens know it.

    def to_tokens(self, text, prepend_bos=True):
        """Ids of a text, [1, tokens]; `prepend_bos`: with the special tokens that the tokenizer puts around a text."""
        return Array.of(np.array([self.tokenizer.encode(text, prepend_bos)], dtype=np.int32), ("batch", "token"))

    def to_string(self, tokens):
        """The text of ids."""
        return self.tokenizer.decode(self._ids(tokens), False)

    def to_str_tokens(self, text, prepend_bos=True):
        """The text of every token of a text, or of ids."""
        ids = self.tokenizer.encode(text, prepend_bos) if isinstance(text, str) else self._ids(text)
        return [self.tokenizer.token_text(id) for id in ids]

    def to_single_token(self, text):
        """The id of a text that is one token."""
        ids = self.tokenizer.encode(text, False)
        if len(ids) != 1:
            raise usage("token", "a text that is one token", f"{text!r}, which is {len(ids)}")
        return ids[0]

    def __call__(self, tokens):
        """One forward over the row: logits, [1, token, vocabulary]."""
        return self.run_with_cache(tokens, names=[])[0]

    forward = __call__

    def run_with_cache(self, tokens, names=None, names_filter=None):
        """One forward over a row, and what was asked for of it: ``logits, cache``. `names`: hooks as TransformerLens spells
        them, with stars, as in "blocks.*.hook_resid_post". Only what is named is computed. Names: hook_resid_pre,
        hook_resid_mid, hook_resid_post, hook_attn_out, hook_mlp_out; of attn: hook_pattern, hook_z, hook_rot_q, hook_rot_k,
        hook_v, hook_result. Without names: all of them but hook_result.

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-diffusion"))
        >>> logits, cache = m.run_with_cache("Who?", names=["blocks.3.attn.hook_pattern", "blocks.*.hook_resid_post"])
        >>> cache["pattern", 3].dims, cache["resid_post", -1].dims
        (('head', 'query', 'key'), ('token', 'd_model'))
        """
        wanted = wanted_layers(names if names is not None else names_filter, self.n_layers)
        logits, arrays, on_card = native.forward(self._handle, self._ids(tokens), wanted, self._changed())
        return Array.of(logits[None], ("batch", "token", "vocabulary")), ActivationCache(self.n_layers, arrays, on_card)

    def lens(self, states, top=5):
        """The logit lens: the final norm and the head on states of any layer, [..., d_model]. The likeliest tokens and their
        probabilities, ``(tokens, probabilities)``, likeliest first.

        >>> import buoy
        >>> m = buoy.load(buoy.example_model("planted-diffusion"))
        >>> logits, cache = m.run_with_cache("Who?", names="blocks.*.hook_resid_post")
        >>> tokens, probabilities = m.lens(cache["resid_post", -1], top=1)
        >>> bool((tokens[:, 0] == logits[0].argmax(axis=-1)).all()), tokens.dims
        (True, ('token', 'rank'))
        """
        found = host_array(states, "`states`")
        if found.ndim < 1 or found.shape[-1] != self.d_model or found.size == 0 or found.dtype.kind not in "fiu":
            raise usage("`states`", f"numbers of shape [..., {self.d_model}]", f"shape {list(found.shape)} of {found.dtype}")
        if isinstance(top, bool) or not isinstance(top, (int, np.integer)):
            raise usage("`top`", "a whole number", repr(top))
        dims = getattr(states, "dims", None) or tuple(f"axis_{i}" for i in range(found.ndim))
        answers = native.lens(self._handle, found.reshape(-1, self.d_model), int(top))
        return tuple(Array.of(one.reshape(*found.shape[:-1], int(top)), (*dims[:-1], "rank")) for one in answers)

    def run_with_hooks(self, *_, **__):
        """Not offered: kernels stay fused. Says what to use instead."""
        raise NotImplementedError("run_with_hooks: kernels stay fused, so no function of Python's runs inside a forward; "
                                  "use `with m.changed(scale_heads=..., scale_keys=..., scale_mlps=..., steer=..., patch=...)` "
                                  "around a call, or on_step= of generate() and evaluate(), which may change every step")

    hooks = add_hook = run_with_hooks

    @property
    def W_U(self):
        """The unembedding, [d_model, d_vocab], float32: a copy."""
        return Array.of(native.matrix(self._handle, "head").T, ("d_model", "vocabulary"))

    @property
    def W_E(self):
        """The embedding, [d_vocab, d_model], float32: a copy."""
        return Array.of(native.matrix(self._handle, "embedding"), ("vocabulary", "d_model"))

    # Inside.

    def _ids(self, tokens, special=True):
        if isinstance(tokens, str):
            return self.tokenizer.encode(tokens, special)
        values = host_array(tokens, "tokens")
        if values.ndim == 2 and values.shape[0] == 1:
            values = values[0]
        if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
            raise usage("tokens", "a text, or whole numbers of shape [tokens] or [1, tokens]",
                        f"shape {list(values.shape)} of {values.dtype}")
        return values.tolist()

    def _row_text(self, ids, mask):
        """Ids for a reader, masks as \u2591."""
        try:
            tokenizer = self.tokenizer
        except UsageError:
            return ",".join(MASK if id == mask else str(id) for id in ids)
        out, run = [], []
        for id in list(ids) + [None]:
            if id is not None and id != mask:
                run.append(id)
                continue
            if run:
                out.append(tokenizer.decode(run, False))
                run = []
            if id is not None:
                out.append(MASK)
        return "".join(out)


def _one_callback(on_step, rule):
    if on_step is not None and rule is not None:
        raise usage("`rule`", "a rule or on_step", "both")
    given = on_step if on_step is not None else rule
    if given is not None and not callable(given):
        raise usage("`on_step`", "a function of a step", repr(given))
    return given

