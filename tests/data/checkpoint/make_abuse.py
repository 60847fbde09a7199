#!/usr/bin/env python3
"""Writes the hand-made files of tests/data/checkpoint/abuse. bad_* must be refused; the rest must only not
crash anything. Files that a fuzzer found are kept beside them and are not written by this script."""
import json
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "abuse"


def raw(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


CONFIG = {
    "architectures": ["Qwen3ForCausalLM"], "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 32,
    "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 10000.0}

FILES = {
    "bad_empty.safetensors": b"",
    "bad_seven_bytes.safetensors": b"\x02\0\0\0\0\0\0",
    "bad_length_all_ones.safetensors": b"\xff" * 8 + b"{}",
    "bad_length_wraps_when_eight_is_added.safetensors": raw(b"{}", b"", 2**64 - 8),
    "bad_length_over_the_limit.safetensors": raw(b"{}", b"", 100_000_001),
    "bad_offsets_wrap.safetensors": raw({"a": entry("U8", [8], 2**64 - 4, 4)}, bytes(8)),
    "bad_shape_wraps_to_zero.safetensors": raw({"a": entry("F32", [2**32, 2**32], 0, 0)}),
    "bad_shape_wraps_with_type.safetensors": raw({"a": entry("F64", [2**61], 0, 0)}),
    "bad_offsets_as_floats.safetensors": raw(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0.0,1e0]}}', b"x"),
    "bad_nested_thousands_deep.safetensors": raw(b'{"a":' + b"[" * 5000),
    "bad_header_not_utf8.safetensors": raw(b'{"\xff\xfe":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "bad_key_twice.safetensors": raw(
        b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        b"x"),
    "bad_overlap_by_one.safetensors": raw({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 3, 7)}, bytes(7)),
    "bad_zero_size_inside_another.safetensors": raw({"a": entry("U8", [4], 0, 4), "z": entry("U8", [0], 2, 2)}, bytes(4)),
    "bad_metadata_is_a_tensor.safetensors": raw({"__metadata__": entry("U8", [1], 0, 1)}, b"x"),
    "bad_null_entry.safetensors": raw(b'{"a":null}'),
    "many_zero_size_tensors.safetensors": raw({str(i): entry("F32", [0, 2**62], 0, 0) for i in range(200)}),
    "names_with_odd_characters.safetensors": raw({"\0": entry("U8", [1], 0, 1), "{}%s\n": entry("U8", [1], 1, 2)}, b"xy"),
    "bad_rotary_factor_beyond_integers.json": json.dumps({**CONFIG, "partial_rotary_factor": 1e300}).encode(),
    "bad_number_beyond_double.json": json.dumps(CONFIG).replace("10000.0", "1e400").encode(),
    "bad_size_beyond_64_bits.json": json.dumps({**CONFIG, "hidden_size": 2**64}).encode(),
    "bad_heads_divide_by_zero.json": json.dumps({**CONFIG, "num_key_value_heads": 0}).encode(),
    "bad_token_beyond_32_bits.json": json.dumps({**CONFIG, "eos_token_id": [2**32 + 1]}).encode(),
    "bad_architecture_is_a_number.json": json.dumps({**CONFIG, "architectures": [0]}).encode(),
    "bad_only_a_byte_order_mark.json": b"\xef\xbb\xbf",
    "bad_utf16.json": json.dumps(CONFIG).encode("utf-16"),
    "largest_sizes.json": json.dumps({**CONFIG, **{key: 2**31 - 2 for key in (
        "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size")}}).encode(),
    "bad_climbs_out.index.json": b'{"weight_map": {"a": "../../etc/x.safetensors"}}',
    "bad_nul_in_name.index.json": b'{"weight_map": {"a": "x\\u0000.safetensors"}}',
    "bad_map_of_maps.index.json": b'{"weight_map": {"a": {"a": "x.safetensors"}}}',
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (FOLDER / name).write_bytes(data)
