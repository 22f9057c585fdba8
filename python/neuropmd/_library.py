"""The shared library: where it is, what its functions take, and how its failures become exceptions.

Nothing of the C header is copied out by hand that could go stale in silence: options are set by name, structs are built
from what the library says of them (npmd_field_describe), and a test holds the prototypes below against the header.
ctypes.CDLL releases the interpreter lock for the time of every call.
"""
from __future__ import annotations

import ctypes
import os
import re
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

_NAME = {"darwin": "libneuropmd.dylib"}.get(sys.platform, "libneuropmd.so")


def _candidates() -> list[str]:
    """Files to try, in order: the one named by the environment, the one of the wheel, that of a source tree, the system's."""
    given = os.environ.get("NEUROPMD_LIBRARY")
    if given:
        return [given]
    here = Path(__file__).resolve().parent
    found = [str(path) for path in (here / _NAME, here.parents[1] / "build" / _NAME) if path.exists()]
    return found or [_NAME]


def _open() -> ctypes.CDLL:
    path = _candidates()[0]
    given = "NEUROPMD_LIBRARY" in os.environ
    if (given or os.path.isabs(path)) and not os.path.isfile(path):
        raise ImportError(f"neuropmd: NEUROPMD_LIBRARY names {path}, which is no file")
    try:
        return ctypes.CDLL(path)
    except OSError as why:
        if path == _NAME and "cannot open shared object file" in str(why) and str(why).startswith(_NAME):
            raise ImportError("neuropmd: there is no " + _NAME + ": run make in the source tree, or set NEUROPMD_LIBRARY") from None
        raise ImportError(
            f"neuropmd: the library {path} cannot be loaded: {why}. It needs libpng, zlib, Expat and libgomp, and "
            "for eigenpairs of surfaces ARPACK, SuperLU and METIS (Debian: libpng16-16 zlib1g libexpat1 libgomp1 "
            "libarpack2 libsuperlu5 libmetis5 liblapack3); NEUROPMD_LIBRARY may name another libneuropmd.so"
        ) from None


library = _open()

# ---- Prototypes: letters stand for C types; every function but the plain ones ends with npmd_error * and returns a status.
#
#   p any pointer, s const char *, i int, u unsigned, n size_t, I int64_t, U uint64_t, d double, D array of doubles
_TYPES = {"p": c_void_p, "s": c_char_p, "i": c_int, "u": c_uint, "n": c_size_t, "U": c_uint64, "d": c_double, "D": c_void_p}

PROTOTYPES = {
    "npmd_build_describe": "p",
    "npmd_domain_parse_with": "spp",
    "npmd_domain_within": "pdp",
    "npmd_domain_uniform": "pDnD",
    "npmd_factors_parse": "spp",
    "npmd_domain_part": "pup",
    "npmd_coords_parse": "sp",
    "npmd_points_read": "spup",
    "npmd_points_from_rows": "Dnnpup",
    "npmd_points_borrow": "pinnpup",
    "npmd_points_rows": "puD",
    "npmd_points_weigh_by": "pDn",
    "npmd_points_write": "spuDn",
    "npmd_options_set": "pss",
    "npmd_fit": "pppp",
    "npmd_select": "ppppip",
    "npmd_save": "ps",
    "npmd_load": "sp",
    "npmd_model_pack": "ppp",
    "npmd_model_unpack": "snp",
    "npmd_model_describe": "pp",
    "npmd_what_parse": "sp",
    "npmd_evaluate_at": "ppipD",
    "npmd_sample": "pUnpDp",
    "npmd_sample_given": "pupUnpDp",
    "npmd_marginal_at": "pupidUpDD",
    "npmd_conditional_at": "pupidUpDD",
    "npmd_probability_near": "ppDdUpp",
    "npmd_score_points": "ppUpp",
    "npmd_truth_read": "sp",
    "npmd_truth_make": "sUp",
    "npmd_truth_write": "ps",
    "npmd_truth_sample": "pUnD",
    "npmd_truth_log_density": "pDnD",
    "npmd_truth_entropy": "pUpp",
    "npmd_compare": "ppinUpp",
    "npmd_surface_read": "sp",
    "npmd_surface_eigen": "piippDDD",
    "npmd_endpoints_find": "pp",
    "npmd_plot": "psp",
    "npmd_plot_what_parse": "sp",
    "npmd_view": "ppsp",
}
# name: (result, arguments)
PLAIN = {
    "npmd_version": (c_char_p, ""),
    "npmd_status_text": (c_char_p, "i"),
    "npmd_domain_free": (None, "p"),
    "npmd_domain_text": (c_char_p, "p"),
    "npmd_domain_factors": (c_int, "p"),
    "npmd_domain_columns": (c_int, "p"),
    "npmd_domain_dimension": (c_int, "p"),
    "npmd_domain_volume": (c_double, "p"),
    "npmd_points_columns": (c_int, "pu"),
    "npmd_points_count": (c_size_t, "p"),
    "npmd_points_free": (None, "p"),
    "npmd_options_new": (c_void_p, ""),
    "npmd_options_watch": (None, "ppp"),
    "npmd_options_free": (None, "p"),
    "npmd_option_count": (c_int, ""),
    "npmd_option_describe": ("npmd_option_text", "i"),
    "npmd_model_free": (None, "p"),
    "npmd_model_domain": (c_void_p, "p"),
    "npmd_model_facts": ("npmd_fit_facts", "p"),
    "npmd_model_warnings": (c_int, "p"),
    "npmd_model_warning": (c_char_p, "pi"),
    "npmd_model_parts": (c_int, "p"),
    "npmd_model_part": ("npmd_part", "pi"),
    "npmd_model_choice": ("npmd_choice", "p"),
    "npmd_truth_domain": (c_void_p, "p"),
    "npmd_truth_free": (None, "p"),
    "npmd_surface_free": (None, "p"),
    "npmd_surface_vertices": (c_size_t, "p"),
    "npmd_surface_faces": (c_size_t, "p"),
    "npmd_surface_area": (c_double, "p"),
    "npmd_surface_vertex": (None, "pnD"),
    "npmd_surface_face": (None, "pnp"),
    "npmd_surface_vertex_areas": (None, "pD"),
    "npmd_endpoints_free": (None, "p"),
    "npmd_plot_kind": (c_char_p, "ip"),
    "npmd_text_free": (None, "p"),
}

# ---- Structs, as the library says they lie in memory


class _FieldText(ctypes.Structure):
    """npmd_field_text: the one struct that must be known beforehand."""

    _fields_ = [("of", c_char_p), ("name", c_char_p), ("type", c_char_p), ("offset", c_size_t), ("size", c_size_t)]


_NUMBERS = {("int", 4): c_int32, ("int", 8): c_int64, ("unsigned", 4): ctypes.c_uint32, ("unsigned", 8): c_uint64,
            ("double", 8): c_double, ("text", ctypes.sizeof(c_void_p)): c_char_p}


def _field_type(kind: str, size: int, built: dict[str, type[ctypes.Structure]]) -> Any:
    if kind in built:
        return built[kind]
    item = {"chars": ctypes.c_char, "ints": c_int, "sizes": c_size_t}.get(kind)
    if item is not None:
        return item * (size // ctypes.sizeof(item))
    if kind == "other" and size % ctypes.sizeof(c_void_p) == 0:
        words = size // ctypes.sizeof(c_void_p)
        return c_void_p if words == 1 else c_void_p * words
    return _NUMBERS[kind, size]


def _structs() -> dict[str, type[ctypes.Structure]]:
    library.npmd_field_describe.restype = _FieldText
    library.npmd_field_describe.argtypes = [c_int]
    rows = [library.npmd_field_describe(i) for i in range(library.npmd_field_count())]
    built: dict[str, type[ctypes.Structure]] = {}
    for whole in (row for row in rows if row.name == b""):
        fields = [row for row in rows if row.of == whole.of and row.name != b""]
        name = whole.of.decode()
        made = type(name, (ctypes.Structure,),
                    {"_fields_": [(f.name.decode(), _field_type(f.type.decode(), f.size, built)) for f in fields]})
        if ctypes.sizeof(made) != whole.size or any(getattr(made, f.name.decode()).offset != f.offset for f in fields):
            raise ImportError(f"neuropmd: the struct {name} of {library._name} does not lie in memory as it says")
        built[name] = made
    return built


def _declare() -> None:
    for name, letters in PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = c_int
        function.argtypes = [_TYPES[c] for c in letters] + [POINTER(structs["npmd_error"])]
    for name, (result, letters) in PLAIN.items():
        function = getattr(library, name)
        function.restype = structs[result] if isinstance(result, str) else result
        function.argtypes = [_TYPES[c] for c in letters]


try:
    structs = _structs()
    _declare()
except AttributeError as why:
    raise ImportError(f"neuropmd: {library._name} is no libneuropmd, or one of another version than this package: {why}") from None

# ---- After a fork

forked = False  # this process is a child, made by fork after the library was loaded


def _after_fork() -> None:
    """The threads that OpenMP keeps for a caller are gone in a forked child, and it would wait for them for ever: children
    compute with one thread each, unless a number is asked for. Answers do not depend on it."""
    global forked
    forked = True
    if _set_threads is not None:
        _set_threads(1)


_set_threads = getattr(library, "omp_set_num_threads", None)  # of the OpenMP that the library is linked with; None: it has none
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

# ---- Failures


class NeuropmdWarning(UserWarning):
    """What a fit warns of: the model is there, and something about it should be known."""


# The exception of a status, by the library's own words for it, so that the numbers stand in the header alone.
_EXCEPTIONS = {"ERR_ARGUMENT": ValueError, "ERR_SHAPE": ValueError, "ERR_FORMAT": ValueError, "ERR_NUMERIC": RuntimeError,
               "ERR_FILE": OSError, "ERR_DEVICE": RuntimeError, "ERR_MEMORY": MemoryError, "STOPPED": KeyboardInterrupt}
_STATUS = dict(enumerate(_EXCEPTIONS, start=1))  # in the order of npmd_status; a test holds it against the header


def python_words(text: str) -> str:
    """A sentence of the library, with options as Python writes them: --max-frequency is max_frequency."""
    text = re.sub(r"--coords (latlon|degrees)", r'coords="\1"', text)
    text = re.sub(r"--([a-z][a-z0-9-]*[a-z0-9])", lambda found: found[1].replace("-", "_"), text)
    return text.replace("is not finite", "is not finite (NaN or inf)")


def failure(status: int, text: bytes, path: str | None = None) -> BaseException:
    """The exception of a status with its sentence."""
    kind = _EXCEPTIONS[_STATUS[status]]
    if kind is OSError and path is not None and not os.path.exists(path):
        kind = FileNotFoundError
    return kind(python_words(text.decode("utf-8", "replace")))


def call(name: str, *arguments: Any, path: str | None = None) -> None:
    """Calls a function that may fail; path is the file that it reads, to tell a missing one from others."""
    error = structs["npmd_error"]()
    status = getattr(library, name)(*arguments, byref(error))
    if status != 0:
        raise failure(status, error.text, path)


def take_text(name: str, *arguments: Any) -> str:
    """A string that the library made, and frees."""
    text = c_void_p()
    call(name, *arguments, byref(text))
    try:
        return ctypes.string_at(text).decode("utf-8")
    finally:
        library.npmd_text_free(text)


def as_dict(struct: ctypes.Structure) -> dict[str, Any]:
    """The fields of a struct, texts as str."""
    items = {}
    for field in struct._fields_:
        value = getattr(struct, field[0])
        items[field[0]] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return items


class Handle:
    """Owns one object of the library and frees it; objects are immutable, so that copies may share it."""

    _free = ""
    _as_parameter_: Any = None  # what ctypes passes

    def __init__(self, pointer: int | None):
        self._as_parameter_ = c_void_p(pointer)

    def __del__(self, _library: ctypes.CDLL = library) -> None:  # bound early: the module may be gone when Python ends
        getattr(_library, self._free)(self._as_parameter_)

    def __copy__(self) -> "Handle":
        return self

    def __deepcopy__(self, memo: dict) -> "Handle":
        return self


def take(kind: type, name: str, *arguments: Any, path: str | None = None) -> Any:
    """The new object that a function writes to its last argument but the error."""
    pointer = c_void_p()
    call(name, *arguments, byref(pointer), path=path)
    return kind(pointer.value)


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
    import json

    return json.loads(take_text("npmd_build_describe"))


def _read_options() -> tuple[list[str], dict[str, dict[str, Any]]]:
    rows = [as_dict(library.npmd_option_describe(i)) for i in range(library.npmd_option_count())]
    names = next(row["values"] for row in rows if row["name"] == "estimator").split("|")  # by their number
    table = {
        row["name"].replace("-", "_"): {
            "option": row["name"], "values": row["values"], "default": row["fallback"], "group": row["group"],
            "help": python_words(row["help"]),
            "estimators": [name for i, name in enumerate(names) if row["estimators"] >> i & 1],
        }
        for row in rows if row["name"] != "estimator"  # the class says it
    }
    return names, table


ESTIMATORS, OPTIONS = _read_options()


def options(estimator: Any = None) -> dict[str, dict[str, Any]]:
    """Every option that an estimator takes as a keyword: its values, default, help, group and who reads it.

    They are read from the library's own table, the one behind ``neuropmd help fit``. ``estimator``, a class or a name,
    restricts them to those that it reads.

    >>> import neuropmd
    >>> neuropmd.options()["max_frequency"]["values"]
    'N,...'
    >>> sorted(neuropmd.options(neuropmd.KDE))[:3]
    ['bandwidth', 'bootstrap', 'combine']
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
