"""The page's check values, and checks of the parts against each other. Run at every start of make_families.py."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch

import plain
from selfcheck import require

from .a2d import store_tied_head
from .body import Body, Experts, Shape, Trace, tensor_sizes
from .cases import Case, hf_name, random_weights
from .fast_dllm import fast_dllm
from .llada2 import fuse_qkv, llada2, stored_name
from .loop_dream import rnd1
from .masks import block_causal, causal, causal_then_block, full, prompt_then_blocks
from .rotary import (Yarn, plain_frequencies, proportional_frequencies, query_factor, rotate, yarn_attention_factor,
                     yarn_bounds, yarn_frequencies)
from .routers import group_scores, sigmoid_router, softmax_router
from .sdar import sdar
from .session import Session, dllm_counts, quota


def near(found: object, wanted: object, tolerance: float, what: str) -> None:
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    require(found.shape == wanted.shape and bool((abs(found - wanted) <= tolerance * abs(wanted)).all()),
            f"{what}: {found} instead of {wanted}")


def check_masks() -> None:
    counts = block_causal(12, 4).sum(1).tolist()
    require(counts == [4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12], "visible keys of blocks of 4")
    require(torch.equal(block_causal(9, 1), causal(9)), "block length 1 is causal")
    require(torch.equal(block_causal(9, 9), full(9)) and torch.equal(block_causal(9, 32), full(9)), "one block is full")
    require(block_causal(7, 4, 3).sum(1).tolist() == [3, 3, 3, 7, 7, 7, 7], "the prompt's first block is the short one")
    require(causal_then_block(5, 3).sum(1).tolist() == [1, 2, 3, 5, 5], "causal prefix, whole block")
    require(prompt_then_blocks(7, 3, 2).sum(1).tolist() == [3, 3, 3, 5, 5, 7, 7], "bidirectional prompt, then blocks")


def check_rotary() -> None:
    x = torch.arange(1, 9, dtype=torch.float64).view(1, 1, 8)
    angles = 3 * plain_frequencies(4, 1e4, torch.float64)[None]
    near(rotate(x, angles.cos(), angles.sin()).flatten(),
         [-1.413353, 1.879118, -2.828857, 4.058191, 5, 6, 7, 8], 1e-6, "plain partial rotary")
    angles = 3 * proportional_frequencies(8, 0.5, 1e4, torch.float64)[None]
    near(rotate(x, angles.cos(), angles.sin()).flatten(),
         [-1.695593, 0.137552, 3, 4, -4.808842, 6.323059, 7, 8], 1e-5, "proportional rotary")
    half = plain_frequencies(64, 6e5, torch.float64)
    near(half[[0, 1, 16, 31]], [1, 0.6598310879, 1.2909944487e-3, 2.5258989722e-6], 1e-9, "LLaDA2's frequencies")
    near(plain_frequencies(128, 6e5, torch.float64)[1], 0.8122998756, 1e-9, "the wrong width")
    chat, base = Yarn(16.0, 16384, mscale=1.0, mscale_all_dim=1.0), Yarn(0.25, 16384, mscale=1.0, mscale_all_dim=1.0)
    require(yarn_bounds(128, 1e6, chat) == (20, 37), "YaRN's bounds")
    w = plain_frequencies(128, 1e6, torch.float64)
    scaled, raised = (yarn_frequencies(128, 1e6, yarn, torch.float64) for yarn in (chat, base))
    require(torch.equal(scaled[:21], w[:21]) and torch.equal(raised[:21], w[:21]), "YaRN leaves high frequencies alone")
    for j, values in {
        25: (4.5315836376e-3, 3.2820660905e-3, 8.5300397884e-3),
        30: (1.5399265261e-3, 6.9070233889e-4, 4.2574439250e-3),
        35: (5.2329911468e-4, 9.0423008787e-5, 1.9085026535e-3),
        36: (4.2169650343e-4, 4.9611353345e-5, 1.6123689837e-3),
        37: (3.3982083289e-4, 2.1238802056e-5, 1.3592833316e-3),
        63: (1.2409377608e-6, 7.7558610047e-8, 4.9637510430e-6),
    }.items():
        near([w[j], scaled[j], raised[j]], values, 1e-9, f"YaRN at {j}")
    require(yarn_attention_factor(chat) == 1 and yarn_attention_factor(base) == 1, "equal mscales give 1")
    near(yarn_attention_factor(Yarn(16.0, 16384)), 0.1 * math.log(16) + 1, 1e-12, "attention factor without mscale")
    require(yarn_attention_factor(Yarn(0.25, 16384)) == 1, "no attention factor up to 1")
    require(yarn_attention_factor(Yarn(16.0, 16384, attention_factor=1.5)) == 1.5, "a stated attention factor wins")
    require(Yarn(None, 16384, max_positions=65536).scale == 4, "factor from the lengths")
    near(query_factor(torch.tensor([0.0, 16383, 16384, 32768], dtype=torch.float64), 0.1, 16384),
         [1, 1, 1.0693147181, 1.1098612289], 1e-9, "position-scaled queries")


def check_routers() -> None:
    logits = torch.tensor([[1.0, 3, 0, 2]], dtype=torch.float64)
    plain_weights, normed = softmax_router(logits, 2, False), softmax_router(logits, 2, True)
    near(plain_weights.scores[0], [0.0871443187, 0.6439142599, 0.0320586033, 0.2368828181], 1e-9, "softmax router")
    require(plain_weights.experts.tolist() == [[1, 3]], "softmax router's experts")
    near(plain_weights.weights[0], [0.6439142599, 0.2368828181], 1e-9, "without renormalisation")
    near(normed.weights[0], [0.7310585786, 0.2689414214], 1e-9, "with renormalisation")
    bias = torch.tensor([0, 0, 0, 0, 0.3, 0.3, 0, 0], dtype=torch.float64)
    logits = torch.tensor([[2, -2, 1, 0.9, 0.5, 0.6, 1.9, -3]], dtype=torch.float64)
    near(group_scores(torch.sigmoid(logits) + bias, 4)[0], [1.0, 1.442008, 1.868116, 0.917317], 1e-6, "group scores")
    routing = sigmoid_router(logits, bias, 2, 4, 2, 2.5)
    near(routing.scores[0], [0.880797, 0.119203, 0.731059, 0.710950, 0.622459, 0.645656, 0.869892, 0.047426], 1e-5,
         "sigmoid router")
    require(routing.experts.tolist() == [[5, 4]], "sigmoid router's experts")
    near(routing.weights[0], [1.272866, 1.227134], 1e-6, "sigmoid router's weights")


def check_quotas() -> None:
    for pair, ours, theirs in (
        ((10, 4), [3, 3, 2, 2], [2, 3, 2, 3]), ((7, 3), [3, 2, 2], [2, 2, 3]), ((32, 8), [4] * 8, [4] * 8),
        ((10, 3), [4, 3, 3], [3, 3, 4]),
        # The page's table has 6 7 6 6 7 for the library here: that is float64; float32 gives this (see FAMILIES.md).
        ((32, 5), [7, 7, 6, 6, 6], [6, 6, 7, 6, 7]),
    ):
        require(quota(*pair) == ours, f"quota {pair}")
        require(dllm_counts(*pair) == theirs, f"dllm's counts {pair}")


def check_sizes() -> None:
    """Parameters and tensors of the real models."""
    def qwen3(hidden: int, mlp: int, layers: int, heads: int, tied: bool = False) -> Shape:
        return Shape(151936, hidden, layers, heads, 8, 128, mlp, 1e-6, 1e6, qk_norm=True, tied=tied)

    def qwen2(vocab: int, hidden: int, mlp: int, layers: int, heads: int, kv: int, tied: bool) -> Shape:
        return Shape(vocab, hidden, layers, heads, kv, hidden // heads, mlp, 1e-6, 1e6, qkv_bias=True, tied=tied)

    def nemotron(hidden: int, mlp: int, layers: int) -> Shape:
        return Shape(131072, hidden, layers, 32, 8, 128, mlp, 1e-5, 1e6)

    def ling(hidden: int, mlp: int, width: int, layers: int, heads: int) -> Shape:
        experts = Experts("sigmoid", 256, 8, width, dense=(0,), shared_width=width, groups=8, kept_groups=4, bias=True)
        return Shape(157184, hidden, layers, heads, 4, 128, mlp, 1e-6, 6e5, qk_norm=True, experts=experts)

    mini = ling(2048, 5120, 512, 20, 16)
    for what, shape, parameters, tensors in (
        ("Nemotron 3B", nemotron(3072, 9216, 26), 3_831_659_520, 237),
        ("Nemotron 8B", nemotron(4096, 14336, 34), 8_489_553_920, 309),
        ("SDAR 1.7B", qwen3(2048, 6144, 28, 16), 2_031_739_904, 311),
        ("SDAR 4B", qwen3(2560, 9728, 36, 32), 4_411_424_256, 399),
        ("SDAR 8B", qwen3(4096, 12288, 36, 32), 8_190_735_360, 399),
        ("Fast-dLLM v2 7B", qwen2(152064, 3584, 18944, 28, 28, 4, False), 7_615_616_512, 339),
        ("Fast-dLLM v2 1.5B", qwen2(151936, 1536, 8960, 28, 12, 2, True), 1_543_714_304, 338),
        ("A2D Qwen3-0.6B, head stored", qwen3(1024, 3072, 28, 16), 751_632_384, 311),
        ("A2D Qwen3-0.6B, tied", qwen3(1024, 3072, 28, 16, True), 596_049_920, 310),
        ("Open-dCoder", qwen2(151936, 896, 4864, 24, 14, 2, True), 494_032_768, 290),
        ("LLaDA-MoE", Shape(157184, 2048, 16, 16, 16, 128, 8192, 1e-5, 5e4, qk_norm=True,
                            experts=Experts("softmax", 64, 8, 1024)), 7_356_880_896, 3_219),
        ("Qwen3-30B-A3B", Shape(151936, 2048, 48, 32, 4, 128, 6144, 1e-6, 1e6, qk_norm=True,
                                experts=Experts("softmax", 128, 8, 768)), 30_532_122_624, 18_867),
        ("LLaDA2 mini", mini, 16_255_643_392, 14_813 + 2 * 20),  # here q, k and v are counted as three tensors
        ("LLaDA2 flash", ling(4096, 9216, 1024, 32, 32), 102_889_705_216, 24_161 + 2 * 32),
    ):
        sizes = tensor_sizes(shape)
        found = sum(math.prod(size) for size in sizes.values())
        require((found, len(sizes)) == (parameters, tensors), f"size of {what}: {found} in {len(sizes)}")
    active = replace(mini, experts=replace(mini.experts, count=8))
    matrices = sum(math.prod(size) for size in tensor_sizes(active).values() if len(size) == 2)
    routers = 19 * (256 - 8) * 2048
    require(matrices + routers == 1_432_879_104, f"active parameters of LLaDA2 mini: {matrices + routers}")


class ToldBody:
    """Says the next list of probabilities for token 7 at every forward, or 0.9 where none is left."""

    def __init__(self, told: list[list[float]] | None = None) -> None:
        self.told = list(told or [])

    def forward(self, ids, visible, first=0, past=None, positions=None) -> Trace:
        rows = self.told.pop(0) if self.told else [0.9] * len(ids)
        logits = torch.zeros(len(ids), 10, dtype=torch.float64)
        for row, p in enumerate(rows[-len(ids) :]):
            logits[row, 7] = math.log(p / (1 - p) * 9)
        return Trace(logits, [], [], [], [])


def run(loop, options: dict, prompt: int, body: ToldBody) -> Session:
    session = Session(body, [3] * prompt, {"mask_token_id": 9, "seed": 0} | options, forbid="choice")
    loop(session)
    return session


def check_loops() -> None:
    sdar_options = {"block_length": 4, "denoising_steps": 4, "temperature": 0.0, "remasking": "dynamic",
                    "threshold": 0.9, "stop_token_ids": [], "max_new_tokens": 4}
    llada2_options = {"block_length": 4, "steps": 4, "minimal_topk": 1, "temperature": 0.0, "threshold": 0.9,
                      "eos_early_stop": False, "eos_token_id": 1, "max_new_tokens": 4}
    told = [[.95, .5, .91, .3], [.99, .6, .99, .7], [.9, .92, .9, .9], [.9, .9, .9, .9]]
    for threshold, steps, wanted in (
        (0.9, 4, [{0, 2}, {3}, {1}]), (0.9, 2, [{0, 2}, {1, 3}]), (0.95, 4, [{0}, {2}, {1}, {3}]),
    ):
        for loop, options in (
            (sdar, sdar_options | {"threshold": threshold, "denoising_steps": steps}),
            (llada2, llada2_options | {"threshold": threshold, "steps": steps}),
        ):
            session = run(loop, options, 0, ToldBody([list(row) for row in told]))
            found = [{p for s, p, _ in session.reveals if s == step} for step in range(session.denoised)]
            require(found == wanted, f"selection by {loop.__name__} at {threshold} in {steps} steps: {found}")
    for block, prompt, length, wanted in (
        (4, 6, 6, [(4, 8), (8, 12)]), (4, 8, 4, [(8, 12)]), (4, 3, 2, [(0, 4), (4, 8)]),
        (32, 33, 32, [(32, 64), (64, 96)]), (32, 32, 32, [(32, 64)]),
    ):
        for loop, options in ((sdar, sdar_options | {"denoising_steps": block}),
                              (llada2, llada2_options | {"steps": block})):
            session = run(loop, options | {"block_length": block, "max_new_tokens": length, "threshold": 0.5}, prompt,
                          ToldBody())
            found = sorted({(start, end) for _, start, end in session.forwards})
            require(found == wanted, f"layout by {loop.__name__} for {block}, {prompt}, {length}: {found}")
            require(len(session.ids) == length, "results are cut")
    fast = {"block_length": 32, "small_block_length": 8, "threshold": 1.0, "temperature": 0.0, "top_p": 0.95,
            "stop_token_ids": [], "use_block_cache": False, "max_new_tokens": 64}
    for prompt, new in ((10, 55), (64, 65)):
        session = run(fast_dllm, fast, prompt, ToldBody())
        require(len(session.x) - prompt == new, f"Fast-dLLM v2's new tokens for a prompt of {prompt}")
        require(len(session.ids) == min(new, 64), "at most G tokens are returned")
    options = {"max_new_tokens": 10, "steps": 4, "temperature": 1.0, "greedy": True, "entropy_bound": None}
    session = run(rnd1, options, 2, ToldBody())
    counts = [sum(1 for s, _, _ in session.reveals if s == step) for step in range(4)]
    require(counts == [3, 2, 3, 2], f"RND1's counts {counts}")


def check_body() -> None:
    """The same logits as plain.py, which agrees with transformers."""
    for causal_mask in (False, True):
        for more in ({"qk_norm": True, "tied": True}, {"qkv_bias": True}):
            sizes = dict(vocab=32, hidden=16, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=24, eps=1e-6, theta=1e6)
            case = Case("check", Shape(**sizes, **more), 1, 32, {}, {}, {}, hf_name, [])
            weights = random_weights(case)
            ids = [3, 1, 4, 1, 5, 9, 2]
            ours = Body(case.shape, weights, torch.float64).forward(ids, causal(7) if causal_mask else full(7))
            theirs = plain.PlainModel(plain.ModelShape(**sizes, causal=causal_mask, **more), weights, torch.float64)
            trace = theirs.forward(ids)
            require(torch.allclose(ours.logits, trace.logits, rtol=0, atol=1e-12), "logits of plain.py")
            require(torch.allclose(torch.stack(ours.attention), torch.stack(trace.attention), rtol=0, atol=1e-13),
                    "attention of plain.py")


def check_packing() -> None:
    shape = Shape(8, 4, 1, 2, 1, 2, 4, 1e-6, 1e4, qk_norm=True)
    names = {stored_name(name): torch.zeros(size) for name, size in tensor_sizes(shape).items()}
    fused = fuse_qkv(names, shape)
    require(fused["model.layers.0.attention.query_key_value.weight"].shape == (8, 4), "fused q, k, v")
    require(len(fused) == len(names) - 2, "three tensors become one")
    tied = {hf_name(name): torch.zeros(size) for name, size in tensor_sizes(replace(shape, tied=True)).items()}
    require("lm_head.weight" in store_tied_head(tied, shape), "the tied head is stored")


def run_self_checks() -> None:
    check_masks()
    check_rotary()
    check_routers()
    check_quotas()
    check_sizes()
    check_loops()
    check_body()
    check_packing()
