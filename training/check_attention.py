"""Whether attention on this device is attention by the mask's definition: varlen calls against a plain masked product,
values and gradients, on a small packed row. Training calls it first and stops where it fails."""

import numpy as np
import torch

from body import MASKS, attend, attend_plainly, seen_keys
from family_rows import prefix_first

LARGEST = 0.03  # difference in units of the largest value: bfloat16 gives less than 0.01


def example(device, length=768, heads=4, width=64):
    """Documents of 1 to 200 tokens, each with two answers; empty ones behind, as in training rows."""
    rng = np.random.default_rng(1)
    begins, answered = [0], np.zeros(length, bool)
    while begins[-1] < length:
        begin, end = begins[-1], min(length, begins[-1] + int(rng.integers(1, 200)))
        answered[begin + (end - begin) // 3:begin + (end - begin) // 2] = True
        answered[end - (end - begin) // 5:end] = True
        begins.append(end)
    begins = np.array(begins + [length] * 5, np.int32)
    made = prefix_first({}, begins, answered)
    prefix = {"begins": torch.as_tensor(made["cuts"], device=device),
              "inside": torch.as_tensor(made["inside"], device=device)}
    torch.manual_seed(1)
    kind = torch.bfloat16 if device.type == "cuda" else torch.float32
    qkv = torch.randn(3, length, heads, width, device=device).to(kind)
    return qkv, torch.as_tensor(begins, device=device), prefix


def check_attention(device):
    """The largest difference by mask; raises where one is too large."""
    qkv, begins, prefix = example(device)
    change = torch.randn_like(qkv[0])
    worst = {}
    for mask in MASKS:
        found = []
        for plainly in (False, True):
            q, k, v = (part.float() if plainly else part for part in qkv)
            q, k, v = (part.detach().clone().requires_grad_() for part in (q, k, v))
            out = (attend_plainly(q, k, v, seen_keys(len(q), begins, mask, prefix)) if plainly else
                   attend(q, k, v, begins, mask, prefix))
            (out * change.to(out.dtype)).sum().backward()
            found.append([part.detach().float() for part in (out, q.grad, k.grad, v.grad)])
        worst[mask] = max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(*found))
    if not all(difference < LARGEST for difference in worst.values()):  # also where one is no number
        raise SystemExit(f"attention on {device} is wrong: {worst}")
    return {mask: round(difference, 6) for mask, difference in worst.items()}
