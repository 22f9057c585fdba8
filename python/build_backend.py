"""setuptools' own backend, on the setuptools that is installed where there is one: pip then needs no network.

pip builds in an environment of its own, into which it downloads what [build-system] requires, also where that is
installed already. So nothing is required there; it is asked for here, and only where it is missing.
"""
import contextlib
import re
import site
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path += [folder for folder in site.getsitepackages() if folder not in sys.path]  # which pip has taken away

if __spec__.cached:  # nothing is left in the source tree: Python has written the byte code of this file by now
    with contextlib.suppress(OSError):
        Path(__spec__.cached).unlink()
        Path(__spec__.cached).parent.rmdir()  # unless others are in it


def installed(name: str, *least: int) -> bool:
    try:
        return tuple(int(number) for number in re.findall(r"\d+", version(name))[:2]) >= least
    except PackageNotFoundError:
        return False


if installed("setuptools", 61):
    from setuptools.build_meta import *  # noqa: F403


def get_requires_for_build_wheel(config_settings=None):
    """setuptools from 61 on reads [project], and from 70.1 on makes wheels by itself."""
    wanted = [] if installed("setuptools", 61) else ["setuptools>=61"]
    return wanted if installed("setuptools", 70, 1) or installed("wheel") else [*wanted, "wheel"]


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
