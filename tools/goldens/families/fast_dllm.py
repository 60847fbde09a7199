"""Fast-dLLM v2 (section 5): Qwen2.5's body, block-causal, sub-blocks, rows shifted by one inside the block."""

from __future__ import annotations

import numpy as np
import torch

from .a2d import qwen_config
from .body import Shape
from .cases import Case, Spec, hf_name, token_at
from .masks import block_causal
from .session import Session

MASK = 75


def fast_dllm(session: Session) -> None:
    """Options: max_new_tokens, block_length, small_block_length, threshold, temperature, top_p, stop_token_ids.

    A prompt of exactly one block is prefilled and seeded, unlike in the reference.
    """
    options = session.options
    block = options["block_length"]
    whole = block * (session.prompt_length // block)
    if whole and session.prompt_length % block == 0:
        logits = session.rows("prefill", 0, whole, block_causal(whole, block))
        session.keep()
        session.append_seed(session.greedy(logits[-1])[0])
    else:
        session.store("prefill", 0, whole, block_causal(whole, block))
    for _ in range(options["max_new_tokens"] // block):
        if stop_stands(session) or not decode_block(session):
            break
    generated = session.x[session.prompt_length :][: options["max_new_tokens"]]
    for n, token in enumerate(generated):
        if token in options["stop_token_ids"]:
            generated = generated[: n + 1]
            break
    session.ids = generated


def stop_stands(session: Session) -> bool:
    """A stop token was generated, with no mask before it."""
    for token in session.x[session.prompt_length :]:
        if token == session.mask:
            return False
        if token in session.options["stop_token_ids"]:
            return True
    return False


def decode_block(session: Session) -> bool:
    """False: stopped in mid-block."""
    options = session.options
    block, small = options["block_length"], options["small_block_length"]
    start = block * (len(session.x) // block)
    end = start + block
    session.append_masks(end)
    visible = block_causal(end, block)
    if session.x[start] == session.mask:
        raise RuntimeError("the block's first position must be known")
    kept_rows = KeptBlock(session, start, end, visible) if options["use_block_cache"] else None
    for first in range(start, end, small):
        while session.masks(first, first + small):
            if kept_rows is not None:
                rows = kept_rows.rows(first, first + small)
            else:
                logits = session.rows("denoise", start, end, visible)
                rows = {p: logits[max(p - 1 - start, 0)] for p in range(start, end)}
            proposals = {p: session.drawn(rows[p], p) for p in session.masks(first, first + small)}
            confidence = {p: c for p, (_, c, _) in proposals.items()}
            exact = {p: e for p, (_, _, e) in proposals.items()}
            chosen = set(session.above(confidence, options["threshold"])) | set(session.best(confidence, 1, exact))
            for p in sorted(chosen):
                session.reveal(p, proposals[p][0])
            if stop_stands(session):
                return False
    logits = session.rows("finish", start, end, visible)
    session.keep()
    session.append_seed(session.greedy(logits[-1])[0])
    return True


class KeptBlock:
    """use_block_cache, an approximation: while a sub-block's first position is known, only its rows are computed; the
    keys and values of the rest of the block are those of the last forward that computed them."""

    def __init__(self, session: Session, start: int, end: int, visible: torch.Tensor) -> None:
        self.session, self.start, self.end, self.visible = session, start, end, visible
        self.kept: list | None = None

    def rows(self, first: int, last: int) -> dict[int, np.ndarray]:
        session, start = self.session, self.start
        if self.kept is None or session.x[first] == session.mask:
            logits = session.rows("denoise", start, self.end, self.visible)
            trace = session.last[0]
            size = self.end - start
            self.kept = [(k[:, -size:].clone(), v[:, -size:].clone()) for k, v in zip(trace.keys, trace.values)]
            return {p: logits[max(p - 1 - start, 0)] for p in range(first, last)}
        return self.partial(first, last)

    def partial(self, first: int, last: int) -> dict[int, np.ndarray]:
        """Forward of the sub-block's rows over the prefix and the kept rows of the block, its own replaced."""
        session, start = self.session, self.start
        prefix = session.past if session.cached else self.prefix()
        body = ReplacingBody(session.body, prefix, self.kept, first - start)
        trace = body.forward(session.x[first:last], first, self.end)
        session.forwards.append(["denoise", first, last])
        session.step = session.denoised
        session.denoised += 1
        logits = trace.logits.double().numpy().copy()
        if session.forbid == "logits":
            logits[:, session.mask] = -np.inf
        return {p: logits[max(p - 1 - first, 0)] for p in range(first, last)}

    def prefix(self) -> list | None:
        if self.start == 0:
            return None
        trace = self.session.body.forward(
            self.session.x[: self.start], block_causal(self.start, self.session.options["block_length"])
        )
        return list(zip(trace.keys, trace.values))


class ReplacingBody:
    """One layer after the other: the sub-block's fresh keys and values replace theirs before attention."""

    def __init__(self, body, prefix: list | None, kept: list, offset: int) -> None:
        self.body, self.prefix, self.kept, self.offset = body, prefix, kept, offset

    def forward(self, ids: list[int], first: int, end: int):
        size = len(ids)
        others = [p for p in range(end) if not first <= p < first + size]
        past = []
        for layer, (keys, values) in enumerate(self.kept):
            k, v = (torch.cat([keys_or[:, : self.offset], keys_or[:, self.offset + size :]], 1)
                    for keys_or in (keys, values))
            if self.prefix is not None:
                k, v = torch.cat([self.prefix[layer][0], k], 1), torch.cat([self.prefix[layer][1], v], 1)
            past.append((k, v))
        # Everything in the block and before it is visible, so the order of the keys does not matter.
        visible = torch.ones(size, end, dtype=torch.bool)
        trace = self.body.forward(ids, visible, len(others), past, positions=list(range(first, first + size)))
        for layer, (keys, values) in enumerate(self.kept):
            keys[:, self.offset : self.offset + size] = trace.keys[layer]
            values[:, self.offset : self.offset + size] = trace.values[layer]
        return trace


_OPTIONS = {"max_new_tokens": 16, "block_length": 8, "small_block_length": 4, "threshold": 0.6, "temperature": 0.0,
            "top_p": 0.95, "stop_token_ids": [1], "use_block_cache": False}


def revealed_counts(session: Session) -> set[int]:
    counts: dict[int, int] = {}
    for step, _, _ in session.reveals:
        counts[step] = counts.get(step, 0) + 1
    return set(counts.values())


SPECS = [
    Spec("greedy", fast_dllm, _OPTIONS, 5, unlike={"threshold": 1.0}, holds=lambda s: len(revealed_counts(s)) > 1),
    Spec("one_per_forward", fast_dllm, _OPTIONS | {"threshold": 1.0}, 11, holds=lambda s: revealed_counts(s) == {1}),
    Spec("prompt_of_one_block", fast_dllm, _OPTIONS, 8),
    Spec("prompt_of_two_blocks", fast_dllm, _OPTIONS, 16),
    Spec("one_sub_block", fast_dllm, _OPTIONS | {"small_block_length": 8}, 10, unlike={"small_block_length": 4}),
    Spec("small_sub_blocks", fast_dllm, _OPTIONS | {"small_block_length": 2}, 6, unlike={"small_block_length": 4}),
    Spec("other_block_length", fast_dllm, _OPTIONS | {"block_length": 4, "small_block_length": 2}, 6),
    Spec("fewer_tokens_than_a_block", fast_dllm, _OPTIONS | {"max_new_tokens": 7}, 5, holds=lambda s: not s.ids),
    Spec("temperature", fast_dllm, _OPTIONS | {"temperature": 0.7, "top_p": 0.9}, 6, unlike={"top_p": 1.0}),
    Spec("stop", fast_dllm, _OPTIONS | {"threshold": 1.0}, 6, adapt=token_at("stop_token_ids", 5),
         unlike={"stop_token_ids": []}, holds=lambda s: s.mask in s.x),
    Spec("stop_by_appended_token", fast_dllm, _OPTIONS | {"max_new_tokens": 24}, 6,
         adapt=token_at("stop_token_ids", 2), unlike={"stop_token_ids": []},
         holds=lambda s: s.x[-1] in s.options["stop_token_ids"] and len(s.x) == 9),
    Spec("block_cache", fast_dllm, _OPTIONS | {"use_block_cache": True, "threshold": 0.9, "max_new_tokens": 24}, 6,
         unlike={"use_block_cache": False}),
]

_SHAPE = Shape(vocab=80, hidden=16, layers=2, heads=2, kv_heads=1, head_dim=8, mlp=24, eps=1e-6, theta=1000000.0,
               qkv_bias=True)
_CONFIG = qwen_config(_SHAPE, "Fast_dLLM_QwenForCausalLM", "Fast_dLLM_Qwen") | {
    "bd_size": 8, "conplemenrary_mask": True, "layer_types": ["full_attention"] * 2, "pad_token_id": 1,
}

CASES = [
    Case("fast-dllm-v2-f32", _SHAPE, 1301, 75, _CONFIG, {"bos_token_id": 0, "eos_token_id": [1, 0], "pad_token_id": 0},
         {"block8": lambda n: block_causal(n, 8)}, hf_name, SPECS,
         mask_id=MASK, block_key="bd_size"),
]
