#!/usr/bin/env python3
"""Writes expected/arrays.tsv: every array of the traces here, with the sum of its values. It uses none of Buoy's readers."""

import json
import math
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
CODES = {"F32": "f", "F16": "e", "I32": "i", "U8": "B"}

lines = ["trace\tsample\tarray\ttype\tshape\tsum"]
for path in sorted(HERE.glob("*/samples/*.safetensors")):
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    for name, entry in sorted(json.loads(data[8:begin]).items()):
        if name == "__metadata__":
            continue
        code = CODES[entry["dtype"]]
        first, last = entry["data_offsets"]
        values = struct.unpack(f"<{(last - first) // struct.calcsize(code)}{code}", data[begin + first:begin + last])
        shape = ",".join(map(str, entry["shape"]))
        lines.append("\t".join([path.parts[-3], path.stem, name, entry["dtype"], shape, repr(math.fsum(values))]))
(HERE / "expected/arrays.tsv").write_text("\n".join(lines) + "\n")
