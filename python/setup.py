"""Builds a wheel that carries libneuropmd: no compiler is needed where it is installed.

The library is, in this order, the one that NEUROPMD_LIBRARY names, that of ../build, or one that cmake builds now into a
temporary folder. It is called through ctypes, so that one wheel serves every Python 3 of a platform.
"""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

SOURCE = Path(__file__).resolve().parent.parent
NAME = "libneuropmd.dylib" if sys.platform == "darwin" else "libneuropmd.so"
sys.dont_write_bytecode = True


def version() -> str:
    """It is written once, in CMakeLists.txt."""
    found = re.search(r"project\(neuropmd VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())
    if not found:
        raise SystemExit(f"{SOURCE}/CMakeLists.txt: no version was found; build from a clone of the whole repository")
    return found[1]


def library(scratch: Path) -> Path:
    given = os.environ.get("NEUROPMD_LIBRARY")
    if given:
        if not Path(given).is_file():
            raise SystemExit(f"NEUROPMD_LIBRARY names {given}, which is no file")
        return Path(given).resolve()
    built = SOURCE / "build" / NAME
    if built.is_file():
        return built.resolve()
    if not shutil.which("cmake"):
        raise SystemExit(f"{built} is not there and cmake was not found: run make in {SOURCE} first, or set NEUROPMD_LIBRARY")
    subprocess.check_call(["cmake", "-S", str(SOURCE), "-B", str(scratch), "-DCMAKE_BUILD_TYPE=Release"])
    subprocess.check_call(["cmake", "--build", str(scratch), "--target", "neuropmd_shared", "--parallel", str(os.cpu_count() or 1)])
    return (scratch / NAME).resolve()


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if getattr(self, "editable_mode", False):
            return  # an editable install finds the library in ../build
        with tempfile.TemporaryDirectory() as scratch:
            target = Path(self.build_lib) / "neuropmd" / NAME
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library(Path(scratch)), target)
            target.chmod(0o755)


class PlatformWheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple:
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # it belongs into platlib


scratch = tempfile.mkdtemp()  # not ./build, where modules of before would find their way into the wheel
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
setup(version=version(), distclass=WithLibrary, options={"build": {"build_base": scratch}},
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
