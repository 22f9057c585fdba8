"""What pyproject.toml cannot say: the version, which is written in CMakeLists.txt, and the libraries in the wheel.

Those are, in this order, the one that NEUROPMD_LIBRARY names and libneuropmd-draw beside it, those of ../build, or what
cmake builds now. They are called through ctypes, so that one wheel serves every Python 3 of a platform.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

SOURCE = Path(__file__).resolve().parents[1]
SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
NAME, DRAW = "libneuropmd" + SUFFIX, "libneuropmd-draw" + SUFFIX


def version() -> str:
    lists = SOURCE / "CMakeLists.txt"
    found = lists.is_file() and re.search(r"project\(neuropmd VERSION ([0-9.]+)", lists.read_text())
    if not found:
        raise SystemExit(f"{lists}: no version was found; build from a clone of the whole repository")
    return found[1]


def library(scratch: Path) -> Path:
    """libneuropmd; libneuropmd-draw may be beside it."""
    given, built = os.environ.get("NEUROPMD_LIBRARY"), SOURCE / "build" / NAME
    if given:
        if not Path(given).is_file():
            raise SystemExit(f"NEUROPMD_LIBRARY names {given}, which is no file")
        return Path(given)
    if built.is_file():
        return built
    if not shutil.which("cmake"):
        raise SystemExit(f"{built} is not there, nor is cmake: run make in {SOURCE} first, or set NEUROPMD_LIBRARY")
    flags = shlex.split(os.environ.get("CMAKE_ARGS", ""))
    subprocess.check_call(["cmake", "-S", SOURCE, "-B", scratch, "-DCMAKE_BUILD_TYPE=Release", *flags])
    subprocess.check_call(["cmake", "--build", scratch, "--parallel", str(os.cpu_count() or 1)])
    return scratch / NAME


class WithLibraries(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # the package stays here, and finds the libraries in ../build
            return
        with tempfile.TemporaryDirectory() as scratch:
            found, package = library(Path(scratch)), Path(self.build_lib) / "neuropmd"
            shutil.copy(found, package / NAME)
            if (found.parent / DRAW).is_file():
                shutil.copy(found.parent / DRAW, package / DRAW)


class ForEveryPython(bdist_wheel):
    def get_tag(self) -> tuple:
        return "py3", "none", super().get_tag()[2]


class ForThisPlatform(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class NoArchive(sdist):
    def run(self) -> None:
        raise SystemExit("the source is the repository, from which the library is built: there is no archive of the "
                         "package alone. Wheels can be made: pip wheel ./python, or python -m build --wheel ./python")


# Nothing is left in the source tree, where a file of an earlier build would get into the next wheel.
with tempfile.TemporaryDirectory() as scratch:
    setup(version=version(), distclass=ForThisPlatform,
          cmdclass={"build_py": WithLibraries, "bdist_wheel": ForEveryPython, "sdist": NoArchive},
          options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}})
