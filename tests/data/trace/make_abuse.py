#!/usr/bin/env python3
"""Writes abuse/ beside itself: whole traces of one sample, each with one field that would have been used as an index,
a size or the end of a loop. Manifest on the first line, then the bytes of the sample (tests/analysis/everything.h).
Run it again after changing it; the output is fixed."""
import hashlib
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
S, L, G, H, T, R, K = 3, 2, 3, 2, 12, 4, 2
SUM = hashlib.sha256(b"abuse").hexdigest()


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def floats(count, value=0.25):
    return struct.pack(f"<{count}f", *([value] * count))


def trace():
    manifest = {
        "format": "buoy-trace", "version": 1, "complete": True, "created_by": "a test", "command": "", "machine": "",
        "model": {"name": "abuse", "family": "LLaDA", "architecture": "abuse", "stored_dtype": "F32", "layers": L,
                  "heads": H, "kv_heads": H, "head_dim": 4, "hidden": 8, "vocabulary": 100, "config_sha256": SUM,
                  "weights_sha256": SUM},
        "tokenizer_sha256": None, "decoding": {}, "probe": {}, "storage": "F32", "seed": 1,
        "samples": [{"id": "s", "status": "done", "file": "samples/s.safetensors", "bytes": 0, "checksum": SUM}]}
    texts = {
        "format": "buoy-trace-sample", "version": "1", "id": "s", "prompt_length": "8", "attention": "bidirectional",
        "mask_token": "99", "prediction_offset": "0", "final_step": "2", "gold_regions": "[\"document 1\"]",
        "region_names": json.dumps(["query", "document 1", "document 2", "answer"]),
        "group_names": json.dumps(["prompt", "answer, revealed", "answer, masked"]),
        "token_texts": json.dumps(["word"] * T)}
    arrays = {
        "tokens": ("I32", [T], ints(*range(T))),
        "tokens_by_step": ("I32", [S, T], ints(*(list(range(8)) + [99] * 4 + list(range(10)) + [99] * 2 + list(range(T))))),
        "revealed_at": ("I32", [T], ints(*([-1] * 8 + [0, 0, 1, 1]))),
        "steps": ("I32", [S], ints(0, 1, 2)),
        "layers": ("I32", [L], ints(0, 1)),
        "group_sizes": ("I32", [S, G], ints(8, 0, 4, 8, 2, 2, 8, 4, 0)),
        "row_positions": ("I32", [R], ints(8, 9, 10, 11)),
        "received": ("F32", [S, L, G, H, T], floats(S * L * G * H * T)),
        "evidence_mass": ("F32", [S, L, R, H], floats(S * L * R * H)),
        "top_keys": ("I32", [S, L, R, H, K], ints(*([3, 4] * (S * L * R * H)))),
        "region_of_token": ("U8", [T], bytes([0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3])),
        "evidence": ("U8", [T], bytes([0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0])),
        "special": ("U8", [T], bytes(T))}
    return manifest, texts, arrays


def pack(manifest, texts, arrays):
    header, data = {"__metadata__": texts}, b""
    for name, (dtype, shape, payload) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header, separators=(",", ":")).encode()
    return json.dumps(manifest).encode() + b"\n" + struct.pack("<Q", len(text)) + text + data


def model(**sizes):
    return lambda m, t, a: m["model"].update(sizes)


def text(key, value):
    return lambda m, t, a: t.update({key: value})


def array(name, payload, shape=None):
    def change(m, t, a):
        a[name] = (a[name][0], shape or a[name][1], payload)
    return change


EDITS = {
    "whole": lambda m, t, a: None,
    "heads_64": model(heads=64, kv_heads=64),
    "heads_1": model(heads=1, kv_heads=1),
    "heads_of_a_thousand_layers": model(layers=1024, heads=1024),
    "layers_beyond_memory": model(layers=2**40),
    "kv_heads_no_divisor": model(heads=2, kv_heads=3),
    "steps_descending": array("steps", ints(2, 1, 0)),
    "steps_huge": array("steps", ints(0, 1, 2**31 - 1)),
    "layers_negative": array("layers", ints(-1, 1)),
    "layers_beyond": array("layers", ints(0, 7)),
    "groups_without_bytes": lambda m, t, a: (a.update(steps=("I32", [0], b""), group_sizes=("I32", [0, 2**40], b""))),
    "prompt_longer_than_row": text("prompt_length", "4000000000"),
    "prompt_negative": text("prompt_length", "-8"),
    "offset_negative": text("prediction_offset", "-5"),
    "regions_beyond": array("region_of_token", bytes([200] * T)),
    "few_token_texts": text("token_texts", "[]"),
    "few_group_names": text("group_names", json.dumps(["answer, revealed"] * 9)),
    "top_keys_beyond": array("top_keys", ints(*([2**31 - 1, -2**31] * (S * L * R * H)))),
    "rows_descending": array("row_positions", ints(11, 10, 9, 8)),
    "not_a_number": array("received", floats(S * L * G * H * T, float("nan"))),
    "infinite": array("received", floats(S * L * G * H * T, float("inf"))),
    "negative": array("received", floats(S * L * G * H * T, -1.0)),
    "no_group_sizes": lambda m, t, a: a.pop("group_sizes"),
}

(HERE / "abuse").mkdir(exist_ok=True)
for name, edit in EDITS.items():
    parts = trace()
    edit(*parts)
    (HERE / "abuse" / name).write_bytes(pack(*parts))
