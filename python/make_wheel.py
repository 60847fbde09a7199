"""A wheel of the CPU build in the folder named (default dist): it carries its libraries, and its tag states the glibc it
was built with, the oldest that it is known to run on.

    python3 python/make_wheel.py [dist]
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(out):
    kind, glibc = platform.libc_ver()
    if kind != "glibc":
        raise SystemExit(f"wheel: expected a machine with glibc, found {kind or 'another C library'}")
    major, minor = glibc.split(".")[:2]
    tag = f"manylinux_{major}_{minor}_{platform.machine()}"
    environment = {**os.environ, "BUOY_CUDA": "0", "BUOY_CARRY_LIBRARIES": "1"}
    work = ROOT / "build" / "wheel"
    subprocess.run([sys.executable, "setup.py", "-q", "build", "--build-base", work, "egg_info", "--egg-base", work_ready(work),
                    "bdist_wheel", "--plat-name", tag, "--dist-dir", Path(out).resolve()], cwd=ROOT, env=environment, check=True)
    [wheel] = Path(out).glob(f"*{tag}.whl")
    print(wheel)


def work_ready(work):
    work.mkdir(parents=True, exist_ok=True)
    return work


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "dist")
