"""Creates tiny random checkpoints of the families of the second page and golden results. See FAMILIES.md."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import shutil
import time
from pathlib import Path

import numpy as np
import torch

from families.cases import make_case
from families.selfcheck import run_self_checks

MODULES = ["a2d", "sdar", "fast_dllm", "nemotron", "open_dcoder", "illada", "moe", "llada2"]
SIZE_LIMIT = 1_360_000

OUT_README = """# Goldens of further families

Tiny random checkpoints (one folder per case, Hugging Face layout) with golden results, made by

    /usr/bin/python3 tools/goldens/make_families.py --out tests/data/families

The files are described in `tools/goldens/FAMILIES.md`; `summary.json` holds the versions, and the smallest margin of
every case. Do not edit: make them anew instead.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to create; case folders in it are replaced")
    parser.add_argument("--only", default="", help="make the cases whose name begins with this only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    run_self_checks()
    arguments.out.mkdir(parents=True, exist_ok=True)
    summary_file = arguments.out / "summary.json"
    summary = json.loads(summary_file.read_text()) if summary_file.exists() else {"cases": {}}
    summary["versions"] = {
        "python": platform.python_version(), "machine": platform.machine(), "numpy": np.__version__,
        "torch": torch.__version__,
    }
    for module in MODULES:
        for case in importlib.import_module(f"families.{module}").CASES:
            if not case.name.startswith(arguments.only):
                continue
            begin = time.monotonic()
            shutil.rmtree(arguments.out / case.name, ignore_errors=True)
            summary["cases"][case.name] = report = make_case(arguments.out, case)
            print(case.name, json.dumps(report), f"{time.monotonic() - begin:.1f} s", flush=True)
    (arguments.out / "README.md").write_text(OUT_README)
    summary_file.write_text(json.dumps(summary, indent=2) + "\n")
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{size} bytes in {arguments.out}")
    if size > SIZE_LIMIT:
        raise SystemExit(f"the goldens exceed {SIZE_LIMIT} bytes")


if __name__ == "__main__":
    main()
