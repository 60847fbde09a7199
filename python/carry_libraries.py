"""Puts the shared libraries that a module needs beside it, in _libs, all but those of every Linux: libc and its parts,
libstdc++ and libgcc_s. The module has DT_RPATH $ORIGIN/_libs, which holds for what those libraries need in turn.

    python3 python/carry_libraries.py path/to/_buoy.so
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

LEFT_OUT = re.compile(r"(ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libutil|libresolv|libstdc\+\+|libgcc_s|"
                      r"libpython[0-9.]*|libcuda|libnvidia.*)\.so(\..*)?")


def needed(module):
    """Paths of all libraries that are loaded with it, by name."""
    lines = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for line in lines:
        match = re.match(r"\s*(\S+) => (\S+) \(", line)
        if "not found" in line:
            raise SystemExit(f"{module}: expected all libraries, found {line.strip()}")
        if match:
            found[match[1]] = Path(match[2])
    return found


def carry(module):
    """Copies them; returns their names."""
    folder = Path(module).parent / "_libs"
    names = []
    for name, path in sorted(needed(module).items()):
        if LEFT_OUT.fullmatch(name) or path.parent == folder:
            continue
        folder.mkdir(exist_ok=True)
        shutil.copy2(path.resolve(), folder / name)
        names.append(name)
    return names


if __name__ == "__main__":
    print("carried:", " ".join(carry(Path(sys.argv[1]).resolve())))
