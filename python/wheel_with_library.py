"""Builds a wheel that carries libneuropmd: no compiler is needed where it is installed.

The library is, in this order, the one that NEUROPMD_LIBRARY names, that of ../build, or one that cmake builds now into a
temporary folder. It is called through ctypes, so that one wheel serves every Python 3 of a platform.

These are the hooks of PEP 517 and PEP 660 that pip calls, with nothing but the standard library: `pip install ./python` needs
no network, whatever is installed.
"""
import base64
import hashlib
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
NAME = "libneuropmd.dylib" if sys.platform == "darwin" else "libneuropmd.so"

METADATA = """Metadata-Version: 2.1
Name: neuropmd
Version: {version}
Summary: Densities of points on products of circles, spheres and closed triangle meshes
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.20
Provides-Extra: sklearn
Requires-Dist: scikit-learn; extra == "sklearn"
Provides-Extra: progress
Requires-Dist: tqdm; extra == "progress"
Description-Content-Type: text/markdown

{readme}"""


def version() -> str:
    """It is written once, in CMakeLists.txt."""
    lists = SOURCE / "CMakeLists.txt"
    found = lists.is_file() and re.search(r"project\(neuropmd VERSION ([0-9.]+)", lists.read_text())
    if not found:
        raise SystemExit(f"{lists}: no version was found; build from a clone of the whole repository")
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
    subprocess.check_call(["cmake", "-S", str(SOURCE), "-B", str(scratch), "-DCMAKE_BUILD_TYPE=Release",
                           *shlex.split(os.environ.get("CMAKE_ARGS", ""))])
    subprocess.check_call(["cmake", "--build", str(scratch), "--target", "neuropmd_shared", "--parallel", str(os.cpu_count() or 1)])
    return (scratch / NAME).resolve()


def metadata() -> str:
    return METADATA.format(version=version(), readme=(HERE / "README.md").read_text())


class Wheel:
    """A zip file that lists its own contents. Equal contents are equal bytes: no file carries the time of its making."""

    def __init__(self, folder: str, tag: str):
        self.info = f"neuropmd-{version()}.dist-info"
        self.name = f"neuropmd-{version()}-{tag}.whl"
        self.record = ""
        self.zip = zipfile.ZipFile(Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED)
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: neuropmd\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        for name in "LICENSE", "NOTICE":
            self.add(f"{self.info}/licenses/{name}", (SOURCE / name).read_bytes())

    def add(self, name: str, contents: bytes, mode: int = 0o644) -> None:
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        self.record += f"{name},sha256={digest},{len(contents)}\n"
        self.write(name, contents, mode)

    def write(self, name: str, contents: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | mode) << 16
        self.zip.writestr(entry, contents)

    def close(self) -> str:
        self.write(f"{self.info}/RECORD", (self.record + f"{self.info}/RECORD,,\n").encode())
        self.zip.close()
        return self.name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[dict] = None) -> str:
    """So that pip need not build the library to know what it is about to build."""
    info = Path(metadata_directory) / f"neuropmd-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Optional[dict] = None, metadata_directory: Optional[str] = None) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        carried = library(Path(scratch)).read_bytes()
    wheel = Wheel(wheel_directory, "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform()))
    for path in sorted((HERE / "neuropmd").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            wheel.add(f"neuropmd/{path.name}", path.read_bytes())
    wheel.add(f"neuropmd/{NAME}", carried, 0o755)
    return wheel.close()


def build_editable(wheel_directory: str, config_settings: Optional[dict] = None, metadata_directory: Optional[str] = None) -> str:
    """The package stays here, and finds the library in ../build."""
    wheel = Wheel(wheel_directory, "py3-none-any")
    wheel.add("neuropmd.pth", f"{HERE}\n".encode())
    return wheel.close()


def build_sdist(sdist_directory: str, config_settings: Optional[dict] = None) -> str:
    raise SystemExit("the source is the repository, which the library is built from: there is no archive of the package alone")
