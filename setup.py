"""`pip install --no-build-isolation .`: CMake builds the compiled half; Python's half is copied as it is.

BUOY_CUDA=1 or 0 demands the CUDA backend or leaves it out; otherwise it is built where nvcc is. CMAKE_ARGS is handed on.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(buoy VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def cuda_wanted():
    given = os.environ.get("BUOY_CUDA")
    if given is not None:
        return given not in ("", "0")
    return shutil.which("nvcc") is not None or Path("/usr/local/cuda/bin/nvcc").exists()


class CMakeBuild(build_ext):
    """One extension, made by the CMake of the repository."""

    def build_extension(self, ext):
        cuda = cuda_wanted()
        # The folder that `make python` builds in, unless told otherwise: what is there need not be made again.
        build = Path(os.environ.get("BUOY_BUILD_DIR", ROOT / "build" / ("cuda-python" if cuda else "python")))
        print(f"buoy: building in {build} for {sys.executable}, {'with' if cuda else 'without'} the CUDA backend", flush=True)
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUOY_TESTS=OFF",
                        "-DBUOY_INSTALL=OFF", "-DBUOY_PYTHON_MODULE=ON", f"-DBUOY_PYTHON={sys.executable}",
                        f"-DBUOY_CUDA={'ON' if cuda else 'OFF'}", *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "buoy_python"], check=True)
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        [built] = (build / "python" / "buoy").glob(f"_buoy.{self.soabi()}.so")
        shutil.copy2(built, target)
        if os.environ.get("BUOY_CARRY_LIBRARIES"):
            subprocess.run([sys.executable, ROOT / "python" / "carry_libraries.py", target], check=True)

    @staticmethod
    def soabi():
        import sysconfig
        return sysconfig.get_config_var("SOABI")


setup(version=VERSION, packages=["buoy"], package_dir={"buoy": "python/buoy"}, package_data={"buoy": ["*.pyi", "py.typed"]},
      ext_modules=[Extension("buoy._buoy", sources=[])], cmdclass={"build_ext": CMakeBuild}, zip_safe=False)
