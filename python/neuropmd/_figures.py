"""Figures and interactive pages of fitted densities, by the library: no display is needed."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_void_p
from typing import Any, Sequence, Union

import numpy as np

from ._density import Density, seed_number
from ._domain import Path, coords_bits
from ._library import as_dict, call, encoded, library, structs
from ._truth import Truth


def _text(value: Any) -> bytes | None:
    return None if value is None else str(value).encode()


def _texts(values: Sequence[Any]) -> Any:
    """Pointers to texts; the array keeps them."""
    return (c_char_p * len(values))(*[encoded(value) for value in values])


def _address(array: Any) -> Any:
    return ctypes.cast(array, c_void_p)


def _choose(request: Any, model: Density, factors: Any, seed: Any) -> None:
    """What both requests have."""
    request.factors = 0 if factors is None else model.domain_._bits(factors)
    request.coords = coords_bits(model.coords)
    request.seed = seed_number(seed)
    request.how = model._compute()._obj


def plot_kinds() -> dict[str, str]:
    """The kinds of figures there are, with their help.

    >>> import neuropmd
    >>> len(neuropmd.plot_kinds()) > 3
    True
    """
    found, text = {}, c_char_p()
    while (name := library.npmd_plot_kind(len(found), byref(text))) is not None:
        found[name.decode()] = (text.value or b"").decode()
    return found


def plot(model: Union[Density, Sequence[Density]], path: Path, *, truth: Union[Path, Truth, None] = None, data: Any = None,
         kind: str | None = None, title: str | None = None, names: Sequence[str] | None = None, what: str = "density",
         log: bool = False, levels: Sequence[float] | None = None, factors: Any = None, given: Any = None, at: Any = None,
         ranges: Any = None, grid: int = 0, width_mm: float = 0.0, dpi: float = 0.0, seed: Any = 1) -> dict[str, Any]:
    """Draws one figure as .png or .svg, by the suffix of the path; several models stand side by side.

    ``truth`` is drawn first, ``data`` as points. ``kind`` is one of ``plot_kinds()``, by default what suits the domain. ``what``
    is "density", "relative" or "spread". ``levels`` are contours that enclose so many per cent (an empty list: none).
    ``given`` and ``at`` draw a conditional density. ``ranges`` are rows of two ends of the colours. Returns what was drawn:
    kind, panels, low, high, the size in mm, the largest error of a density's integral.

    >>> import neuropmd, tempfile, os
    >>> points, truth = neuropmd.simulate("t2-authors", 300)
    >>> model = neuropmd.KDE("S1^2", kappa=10).fit(points)
    >>> neuropmd.plot(model, os.path.join(tempfile.mkdtemp(), "torus.svg"), truth=truth)["panels"]
    2
    """
    models = [model] if isinstance(model, Density) else list(model)
    if not models:
        raise ValueError("plot: at least one model was expected")
    first, request, facts = models[0], structs["npmd_plot_request"](), structs["npmd_plot_facts"]()
    truth = truth if truth is None or isinstance(truth, Truth) else Truth(truth)
    handles = (c_void_p * len(models))(*[one._fitted()._as_parameter_.value for one in models])
    if names is not None and (isinstance(names, str) or len(names) != len(models)):
        raise ValueError(f"names: {names!r} was found where a list of {len(models)}, one a model, was expected")
    if (given is None) != (at is None):
        raise ValueError("given and at: both are needed for a conditional density, or none")
    if min(grid, width_mm, dpi) < 0:
        raise ValueError(f"grid {grid}, width_mm {width_mm}, dpi {dpi}: numbers from 0 on were expected")
    words = _texts(names) if names is not None else None
    points = None if data is None else first._points(data)
    place = None if at is None else first._points(np.atleast_2d(np.asarray(at, dtype=np.float64)), first.domain_.part(given))
    contours = None if levels is None else np.ascontiguousarray(levels, dtype=np.float64)
    ends = None if ranges is None else np.ascontiguousarray(ranges, dtype=np.float64).reshape(-1, 2)
    number = c_int()
    call("npmd_plot_what_parse", what.encode(), byref(number))
    _choose(request, first, factors, seed)
    request.model, request.models = _address(handles), len(models)
    request.name = None if words is None else _address(words)
    request.truth = None if truth is None else truth._as_parameter_
    request.data = None if points is None else points._as_parameter_
    request.kind, request.title = _text(kind), _text(title)
    request.what, request.log_scale = number.value, int(log)
    if contours is not None:
        request.level, request.levels = contours.ctypes.data, len(contours) if len(contours) else -1
    if place is not None:
        request.given, request.at = first.domain_._bits(given), place._as_parameter_
    if ends is not None:
        request.range, request.ranges = ends.ctypes.data, len(ends)
    request.grid, request.width_mm, request.dpi = grid, width_mm, dpi
    call("npmd_plot", byref(request), encoded(path), byref(facts))
    return as_dict(facts)


def view(model: Density, path: Path, *, data: Any = None, title: str | None = None, names: Sequence[str] | None = None,
         factors: Any = None, nodes: int = 0, most_points: int = 0, accuracy: float = 0.0, seed: Any = 1) -> dict[str, Any]:
    """Writes an interactive page, one HTML file that needs no server and no network: turn it, click a point on one factor, see the
    conditional density on the other. ``factors``, one or two, are counted from 1; ``data`` are shown as points. RuntimeError
    where the library was built without three.js.

    >>> import neuropmd, tempfile, os
    >>> points, truth = neuropmd.simulate("t2-authors", 300)
    >>> model = neuropmd.KDE("S1^2", kappa=10).fit(points)
    >>> try:
    ...     size = neuropmd.view(model, os.path.join(tempfile.mkdtemp(), "torus.html"), nodes=100)["bytes"]
    ... except RuntimeError:                     # built without three.js
    ...     size = 0
    >>> size < 8_000_000
    True
    """
    model._fitted()
    request, facts = structs["npmd_view_request"](), structs["npmd_view_facts"]()
    points = None if data is None else model._points(data)
    _choose(request, model, factors, seed)
    request.title = _text(title)
    if names is not None and (isinstance(names, str) or len(names) > 2):
        raise ValueError(f"names: {names!r} was found where a list of at most two, one a factor shown, was expected")
    words = _texts(list(names or []))
    for i, pointer in enumerate(ctypes.cast(words, ctypes.POINTER(c_void_p))[:len(words)]):
        request.name[i] = pointer
    request.nodes, request.most_points, request.accuracy = nodes, most_points, accuracy
    request.data = None if points is None else points._as_parameter_
    call("npmd_view", model._fitted(), byref(request), encoded(path), byref(facts))
    found = as_dict(facts)
    shown = found.pop("factors")
    return {**found, "factor": list(found["factor"])[:shown], "nodes": list(found["nodes"])[:shown]}
