"""A minimal safetensors writer, so that the bytes do not depend on any library version."""

from __future__ import annotations

import json
from pathlib import Path

import torch

_TYPE_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int32: "I32",
}


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    tensor = tensor.detach().contiguous()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.view(torch.int16)
    array = tensor.numpy()
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def write_safetensors(path: Path, tensors: dict[str, torch.Tensor]) -> int:
    """Writes the tensors in the given order; returns the number of data bytes."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    chunks: list[bytes] = []
    offset = 0
    for name, tensor in tensors.items():
        data = tensor_bytes(tensor)
        header[name] = {
            "dtype": _TYPE_NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(chunks))
    return offset
