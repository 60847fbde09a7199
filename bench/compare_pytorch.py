#!/usr/bin/env python3
"""Times one denoising forward of the LLaDA-8B shape in PyTorch and in Buoy, in one run on the same card.

Random bf16 weights, batch 1, all logits and their argmax. The PyTorch model is a minimal one of our own: fused
QKV and gate/up matrices, RMSNorm, rotation, SwiGLU. Its variants:

  sdpa         scaled_dot_product_attention: attention unseen
  compiled     the same, each layer under torch.compile, the whole forward replayed as a CUDA graph
  reduced      eager attention; probabilities are formed and reduced on the card to what attention received by
               13 groups of queries, per head, and row entropies
  copied       sdpa for the output, and in every layer the probabilities computed again and copied to the host,
               as the published scripts do, but into pinned memory that is used again

Buoy's times come from `buoy_bench --only cuda` (unobserved, and observed: received by 13 groups, entropy, 32
whole rows, QK moments, records delivered to the host).

  python3 bench/compare_pytorch.py --bench build/cuda/bin/buoy_bench --json compare.json
"""

import argparse
import json
import math
import statistics
import subprocess
import tempfile
import time

import torch
import torch.nn.functional as F

LAYERS, HIDDEN, HEADS, DIM, MLP, VOCABULARY = 32, 4096, 32, 128, 12288, 126464
GROUPS = 13


def rms_norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, 1e-5)


def rotate(x, cos, sin):
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


class Model:
    def __init__(self):
        def matrix(outputs, inputs):
            return torch.randn(outputs, inputs, device="cuda", dtype=torch.bfloat16) / math.sqrt(inputs)

        self.embedding, self.head = matrix(VOCABULARY, HIDDEN), matrix(VOCABULARY, HIDDEN)
        self.one = torch.ones(HIDDEN, device="cuda", dtype=torch.bfloat16)
        self.layers = [(matrix(3 * HIDDEN, HIDDEN), matrix(HIDDEN, HIDDEN), matrix(2 * MLP, HIDDEN), matrix(HIDDEN, MLP))
                       for _ in range(LAYERS)]

    def forward(self, tokens, attend, run_layer=None):
        count = tokens.shape[0]
        angles = torch.outer(torch.arange(count, device="cuda", dtype=torch.float32),
                             500000.0 ** (-torch.arange(0, DIM, 2, device="cuda", dtype=torch.float32) / DIM))
        cos, sin = (torch.cat((f, f), dim=-1).to(torch.bfloat16) for f in (angles.cos(), angles.sin()))
        x = self.embedding[tokens]
        for weights in self.layers:
            x = (run_layer or layer)(x, cos, sin, self.one, weights, attend)
        return F.linear(rms_norm(x, self.one), self.head).argmax(dim=-1)


def layer(x, cos, sin, one, weights, attend):
    qkv, out, gate_up, down = weights
    count = x.shape[0]
    q, k, v = F.linear(rms_norm(x, one), qkv).view(count, 3, HEADS, DIM).permute(1, 2, 0, 3)
    a = attend(rotate(q, cos, sin), rotate(k, cos, sin), v)
    x = x + F.linear(a.transpose(0, 1).reshape(count, HIDDEN), out)
    gate, up = F.linear(rms_norm(x, one), gate_up).chunk(2, dim=-1)
    return x + F.linear(F.silu(gate) * up, down)


def sdpa(q, k, v):
    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


def probabilities(q, k):
    return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(DIM), dim=-1, dtype=torch.float32)


def reduced(q, k, v):
    p = probabilities(q, k)
    group = torch.arange(q.shape[1], device="cuda") * GROUPS // q.shape[1]
    one_hot = F.one_hot(group, GROUPS).to(torch.float32).T
    reduced.received = one_hot @ p  # [heads, groups, keys]
    reduced.entropy = -(p * (p + 1e-20).log()).sum(dim=-1)
    return p.to(q.dtype) @ v


def copied(q, k, v):
    p = probabilities(q, k).to(q.dtype)
    if copied.host is None or copied.host.shape != p.shape:
        copied.host = torch.empty(p.shape, dtype=p.dtype, pin_memory=True)
    copied.host.copy_(p)
    return sdpa(q, k, v)


copied.host = None


def median_ms(call, repetitions, limit_seconds=4):
    """Of up to so many calls after one to warm up, none begun after the limit."""
    call()
    torch.cuda.synchronize()
    times, start = [], time.monotonic()
    while len(times) < repetitions and (not times or time.monotonic() - start < limit_seconds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def as_graph(call):
    """The call recorded as a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def time_pytorch(lengths, compiled_lengths):
    model = Model()
    compiled = torch.compile(layer, dynamic=False)
    results = {}
    for count in lengths:
        tokens = torch.randint(0, VOCABULARY, (count,), device="cuda")
        row = {"sdpa": median_ms(lambda: model.forward(tokens, sdpa), 10)}
        if count in compiled_lengths:
            row["compiled"] = median_ms(as_graph(lambda: model.forward(tokens, sdpa, compiled)), 10)
        row["reduced"] = median_ms(lambda: model.forward(tokens, reduced), 5)
        row["copied"] = median_ms(lambda: model.forward(tokens, copied), 1)
        results[count] = row
        print(count, {name: round(ms, 2) for name, ms in row.items()}, flush=True)
    return results


def time_buoy(program, lengths):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([program, "--only", "cuda", "--tokens", ",".join(map(str, lengths)), "--json", file.name],
                       check=True, stdout=subprocess.DEVNULL)
        bench = json.load(open(file.name))
    results = {count: {} for count in lengths}
    for step in bench["steps"]:
        if step["sequences"] == 1:
            results[step["tokens"]]["buoy observed" if step["observed"] else "buoy"] = 1e3 * step["seconds"]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program buoy_bench")
    parser.add_argument("--tokens", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--compile", type=int, nargs="*", default=[256, 1024], help="lengths to use torch.compile for")
    parser.add_argument("--json", help="also write the times here")
    options = parser.parse_args()
    with torch.inference_mode():
        times = time_pytorch(options.tokens, options.compile)
    torch.cuda.empty_cache()
    for count, row in time_buoy(options.bench, options.tokens).items():
        times[count] |= row
    columns = ["sdpa", "compiled", "reduced", "copied", "buoy", "buoy observed"]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, milliseconds per forward")
    print("tokens " + "".join(f"{name:>15}" for name in columns))
    for count, row in times.items():
        print(f"{count:>6} " + "".join(f"{row[name]:>15.2f}" if name in row else f"{'-':>15}" for name in columns))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"card": torch.cuda.get_device_name(), "torch": torch.__version__, "milliseconds": times}, file, indent=2)


if __name__ == "__main__":
    main()
