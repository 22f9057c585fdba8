"""The shared libraries: where they are, and how their failures become exceptions.

Options are read from the library's own table and set by name; its functions and structs stand in _header. ctypes.CDLL
releases the interpreter lock for the time of every call.
"""
from __future__ import annotations

import ctypes
import functools
import itertools
import json
import os
import re
import sys
from ctypes import byref, c_char_p
from pathlib import Path
from typing import Any, Callable, Iterator

from . import _header as h

_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
_NAME, _DRAW = "libneuropmd" + _SUFFIX, "libneuropmd-draw" + _SUFFIX
_NEEDED = ("It needs libpng, zlib, Expat and libgomp, and for eigenpairs of surfaces ARPACK, SuperLU and METIS "
           "(Debian: libpng16-16 zlib1g libexpat1 libgomp1 libarpack2 libsuperlu5 libmetis5 liblapack3)")


def _find() -> str:
    """The library named by the environment, else that of the wheel, that of a source tree, the system's."""
    given = os.environ.get("NEUROPMD_LIBRARY")
    if given:
        if not os.path.isfile(given):
            raise ImportError(f"neuropmd: NEUROPMD_LIBRARY names {given}, which is no file")
        return os.path.abspath(given)
    here = Path(__file__).resolve().parent
    return next((str(path) for path in (here / _NAME, here.parents[1] / "build" / _NAME) if path.is_file()), _NAME)


def _open(path: str, fallible: dict[str, list[Any]], plain: dict[str, tuple[Any, list[Any]]]) -> ctypes.CDLL:
    try:
        opened = ctypes.CDLL(path)
        h.declare(opened, fallible, plain)
        return opened
    except OSError as why:
        if not os.path.isabs(path) and str(why).startswith(path) and "cannot open shared object file" in str(why):
            raise ImportError(f"neuropmd: there is no {path}: run make in the source tree, or set NEUROPMD_LIBRARY"
                              ) from None
        raise ImportError(f"neuropmd: the library {path} cannot be loaded: {why}. {_NEEDED}; NEUROPMD_LIBRARY may name "
                          f"another {_NAME}") from None
    except AttributeError as why:
        raise ImportError(f"neuropmd: {path} is no library of this package, or of another version: {why}") from None


library = _open(_find(), h.FALLIBLE, h.PLAIN)


@functools.lru_cache(maxsize=None)
def draw() -> ctypes.CDLL:
    """The library of figures and pages, from beside the other, when it is first asked for: fits do without it."""
    path = os.path.join(os.path.dirname(library._name), _DRAW)
    if os.path.isabs(path) and not os.path.isfile(path):
        raise ImportError(f"neuropmd: figures and pages need {_DRAW}, which is not beside {library._name}: make in the "
                          "source tree builds both. All else works without it")
    return _open(path, h.DRAW_FALLIBLE, h.DRAW_PLAIN)


# ---- After a fork

forked = False  # this process is a child, made by fork after the library was loaded


def _after_fork() -> None:
    """The threads that OpenMP keeps for a caller are gone in a forked child, and it would wait for them for ever:
    children compute with one thread each, unless a number is asked for. Answers do not depend on it."""
    global forked
    forked = True
    if _set_threads is not None:
        _set_threads(1)


_set_threads = getattr(library, "omp_set_num_threads", None)  # of the OpenMP that the library has; None: it has none
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

# ---- Failures


class NeuropmdWarning(UserWarning):
    """What a fit warns of: the model is there, and something about it should be known."""


_EXCEPTIONS = {h.NPMD_ERR_ARGUMENT: ValueError, h.NPMD_ERR_SHAPE: ValueError, h.NPMD_ERR_FORMAT: ValueError,
               h.NPMD_ERR_NUMERIC: RuntimeError, h.NPMD_ERR_FILE: OSError, h.NPMD_ERR_DEVICE: RuntimeError,
               h.NPMD_ERR_MEMORY: MemoryError, h.NPMD_STOPPED: KeyboardInterrupt}


def python_words(text: str) -> str:
    """A sentence of the library, whose options stand between back quotes, as Python writes them: `max-frequency` is
    max_frequency, `skip` off is skip=False."""
    values = {"on": "True", "off": "False", "latlon": '"latlon"', "degrees": '"degrees"'}
    text = re.sub("(`[a-z0-9-]+`) (on|off|latlon|degrees)\\b", lambda found: f"{found[1]}={values[found[2]]}", text)
    text = re.sub("`([a-z0-9-]+)`", lambda found: found[1].replace("-", "_"), text)
    return text.replace("is not finite", "is not finite (NaN or inf)")


def failure(status: int, text: bytes, path: str | None = None) -> BaseException:
    """The exception of a status with its sentence; path is the file that was read, to tell one that is missing."""
    kind: type[BaseException] = _EXCEPTIONS[status]
    if kind is OSError and path is not None and not os.path.exists(path):
        kind = FileNotFoundError
    return kind(python_words(text.decode("utf-8", "replace")))


def call(function: Callable[..., int], *arguments: Any, path: str | None = None) -> None:
    """Calls a function that may fail."""
    error = h.npmd_error()
    status = function(*arguments, byref(error))
    if status != h.NPMD_OK:
        raise failure(status, error.text, path)


def take_json(function: Callable[..., int], *arguments: Any) -> Any:
    """What a text says that the library made, and frees."""
    text = c_char_p()
    call(function, *arguments, byref(text))
    try:
        return json.loads(text.value or b"null")
    finally:
        library.npmd_text_free(text)


def as_dict(struct: h.Sized) -> dict[str, Any]:
    """The fields of a struct but its size, texts as str."""
    items = {name: getattr(struct, name) for name, *_ in struct._fields_}
    return {name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            for name, value in items.items()}


def facts(function: Callable[..., int], kind: type[h.Sized], *arguments: Any) -> dict[str, Any]:
    """The struct of this kind that a function writes to its last argument but the error."""
    found = kind()
    call(function, *arguments, byref(found))
    return as_dict(found)


def texts(function: Callable[[int], bytes | None]) -> Iterator[str]:
    """Those that a function gives for 0, 1, ... until there is none."""
    return (text.decode() for text in iter(map(function, itertools.count()).__next__, None))


class Handle:
    """Owns one object of the library and frees it; objects are immutable, so that copies may share it."""

    _type: type[ctypes.c_void_p]
    _as_parameter_: Any = None  # what ctypes passes

    def __init__(self, pointer: ctypes.c_void_p):
        self._as_parameter_ = pointer

    def __del__(self, _library: ctypes.CDLL = library) -> None:  # bound early: the module may be gone when Python ends
        getattr(_library, self._type.__name__ + "_free")(self._as_parameter_)

    def __copy__(self) -> "Handle":
        return self

    def __deepcopy__(self, memo: dict) -> "Handle":
        return self


def take(kind: type, function: Callable[..., int], *arguments: Any, path: str | None = None) -> Any:
    """The new object that a function writes to its last argument but the error."""
    pointer = kind._type()
    call(function, *arguments, byref(pointer), path=path)
    return kind(pointer)


def compute(threads: int | None = None, device: str | None = None) -> h.npmd_compute:
    """Where to compute. A number of threads that no int has is refused as the largest one is, not taken for another."""
    count = max(-1, min(int(threads or forked), 2 ** 31 - 1))
    return h.npmd_compute(threads=count, device=device.encode() if device else None)


# ---- Facts of the library


def version() -> str:
    """The version of the library, which is that of the package.

    >>> import neuropmd
    >>> neuropmd.version() == neuropmd.__version__
    True
    """
    return library.npmd_version().decode()


def build() -> dict[str, Any]:
    """What this build of the library holds: version, compiler, kernels chosen on this machine, devices.

    >>> import neuropmd
    >>> "cpu" in neuropmd.build()["devices"]
    True
    """
    return take_json(library.npmd_build_describe)


def _read_options() -> tuple[list[str], dict[str, dict[str, Any]]]:
    def column(number: int) -> list[str]:
        return list(texts(lambda i: library.npmd_option_text(i, number)))

    names, values, helps = column(h.NPMD_OPTION_NAME), column(h.NPMD_OPTION_VALUES), column(h.NPMD_OPTION_HELP)
    fallbacks, groups = column(h.NPMD_OPTION_FALLBACK), column(h.NPMD_OPTION_GROUP)
    estimators = values[names.index("estimator")].split("|")
    table = {
        name.replace("-", "_"): {
            "option": name, "values": values[i], "default": fallbacks[i], "group": groups[i],
            "help": python_words(helps[i]),
            "estimators": [kind for kind in estimators if library.npmd_option_is_read(i, kind.encode())],
        }
        for i, name in enumerate(names) if name != "estimator"  # the class says it
    }
    return estimators, table


ESTIMATORS, OPTIONS = _read_options()


def options(estimator: Any = None) -> dict[str, dict[str, Any]]:
    """Every option that an estimator takes as a keyword: its values, default, help, group and who reads it.

    They are read from the library's own table, the one behind ``neuropmd help fit``. ``estimator``, a class or a name,
    restricts them to those that it reads.

    >>> import neuropmd
    >>> neuropmd.options()["max_frequency"]["values"]
    'N,...'
    >>> "bandwidth" in neuropmd.options(neuropmd.KDE), "width" in neuropmd.options(neuropmd.KDE)
    (True, False)
    """
    name = estimator if estimator is None or isinstance(estimator, str) else estimator._kind
    if name is not None and name not in ESTIMATORS:
        raise ValueError(f"estimator: {name!r} was found where one of {', '.join(ESTIMATORS)} was expected")
    return {key: dict(row) for key, row in OPTIONS.items() if name is None or name in row["estimators"]}


def encoded(text: Any) -> bytes:
    """A path or a text as the library takes it, which reads to the first zero byte."""
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError(f"{text!r} has a null character in it")
    return data


def option_text(value: Any) -> bytes:
    """A value as a user of the program would write it."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":  # numpy's
        return b"on" if value else b"off"
    if isinstance(value, (str, os.PathLike)):
        return encoded(value)
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return b",".join(option_text(item) for item in value)
    return repr(value).encode()
