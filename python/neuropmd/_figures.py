"""Figures and interactive pages of fitted densities, by the library: no display is needed."""
from __future__ import annotations

from ctypes import POINTER, byref, c_char_p, c_double, c_int, pointer
from typing import Any, Sequence, Union

import numpy as np

from . import _header as h
from ._density import Density, seed_number
from ._domain import Path, coords_bits
from ._library import call, draw, encoded, facts, texts
from ._truth import Truth


def _text(value: Any) -> bytes | None:
    return None if value is None else str(value).encode()


def _numbers(values: Any) -> Any:
    """A pointer to numbers, which keeps them."""
    return np.ascontiguousarray(values, dtype=np.float64).ctypes.data_as(POINTER(c_double))


def _choices(model: Density, title: str | None, factors: Any, seed: Any) -> dict[str, Any]:
    """What both requests have."""
    return dict(title=_text(title), factors=0 if factors is None else model.domain_._bits(factors),
                coords=coords_bits(model.coords), seed=seed_number(seed), how=pointer(model._compute()))


def plot_kinds() -> dict[str, str]:
    """The kinds of figures there are, with their help.

    >>> import neuropmd
    >>> len(neuropmd.plot_kinds()) > 3
    True
    """
    text = c_char_p()
    return {name: (text.value or b"").decode() for name in texts(lambda i: draw().npmd_plot_kind(i, byref(text)))}


def plot(model: Union[Density, Sequence[Density]], path: Path, *, truth: Union[Path, Truth, None] = None,
         data: Any = None, kind: str | None = None, title: str | None = None, names: Sequence[str] | None = None,
         what: str = "density", log: bool = False, levels: Sequence[float] | None = None, factors: Any = None,
         given: Any = None, at: Any = None, ranges: Any = None, grid: int = 0, width_mm: float = 0.0, dpi: float = 0.0,
         seed: Any = 1) -> dict[str, Any]:
    """Draws one figure as .png or .svg, by the suffix of the path; several models stand side by side.

    ``truth`` is drawn first, ``data`` as points. ``kind`` is one of ``plot_kinds()``, by default what suits the domain.
    ``what`` is "density", "relative" or "spread". ``levels`` are contours that enclose so many per cent (an empty list:
    none). ``given`` and ``at`` draw a conditional density. ``ranges`` are rows of two ends of the colours. Returns what
    was drawn: kind, panels, low, high, the size in mm, the largest error of a density's integral. ImportError where the
    library of figures is missing.

    >>> import neuropmd, tempfile, os
    >>> points, truth = neuropmd.simulate("t2-authors", 300)
    >>> model = neuropmd.KDE("S1^2", kappa=10).fit(points)
    >>> neuropmd.plot(model, os.path.join(tempfile.mkdtemp(), "torus.svg"), truth=truth)["panels"]
    2
    """
    models = [model] if isinstance(model, Density) else list(model)
    if not models:
        raise ValueError("plot: at least one model was expected")
    if names is not None and (isinstance(names, str) or len(names) != len(models)):
        raise ValueError(f"names: {names!r} was found where a list of {len(models)}, one a model, was expected")
    if (given is None) != (at is None):
        raise ValueError("given and at: both are needed for a conditional density, or none")
    if min(grid, width_mm, dpi) < 0:
        raise ValueError(f"grid {grid}, width_mm {width_mm}, dpi {dpi}: numbers from 0 on were expected")
    handles, first, number = [one._fitted()._as_parameter_ for one in models], models[0], c_int()
    call(draw().npmd_plot_what_parse, what.encode(), byref(number))
    request = h.npmd_plot_request(
        model=(h.npmd_model * len(models))(*handles), models=len(models), kind=_text(kind), what=number.value,
        log_scale=int(log), grid=grid, width_mm=width_mm, dpi=dpi, **_choices(first, title, factors, seed))
    if data is not None:
        points = first._points(data)  # these names keep what the request points to
        request.data = points._as_parameter_
    if names is not None:
        request.name = (c_char_p * len(names))(*map(encoded, names))
    if truth is not None:
        truth = truth if isinstance(truth, Truth) else Truth(truth)
        request.truth = truth._as_parameter_
    if levels is not None:
        request.level, request.levels = _numbers(levels), len(levels) or -1
    if at is not None:
        place = first._points(np.atleast_2d(np.asarray(at, dtype=np.float64)), first.domain_.part(given))
        request.given, request.at = first.domain_._bits(given), place._as_parameter_
    if ranges is not None:
        ends = np.asarray(ranges, dtype=np.float64).reshape(-1, 2)
        request.range, request.ranges = _numbers(ends), len(ends)
    return facts(draw().npmd_plot, h.npmd_plot_facts, byref(request), encoded(path))


def view(model: Density, path: Path, *, data: Any = None, title: str | None = None, names: Sequence[str] | None = None,
         factors: Any = None, nodes: int = 0, most_points: int = 0, accuracy: float = 0.0,
         seed: Any = 1) -> dict[str, Any]:
    """Writes an interactive page, one HTML file that needs no server and no network: turn it, click a point on one
    factor, see the conditional density on the other. ``factors``, one or two, are counted from 1; ``data`` are shown as
    points. ImportError where the library of pages is missing, RuntimeError where it was built without three.js.

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
    if names is not None and (isinstance(names, str) or len(names) > 2):
        raise ValueError(f"names: {names!r} was found where a list of at most two, one for each factor shown, was expected")
    handle = model._fitted()
    request = h.npmd_view_request(nodes=nodes, most_points=most_points, accuracy=accuracy,
                                  name=(c_char_p * 2)(*map(encoded, names or ())),
                                  **_choices(model, title, factors, seed))
    if data is not None:
        points = model._points(data)  # the name keeps what the request points to
        request.data = points._as_parameter_
    found = facts(draw().npmd_view, h.npmd_view_facts, handle, byref(request), encoded(path))
    shown = found.pop("factors")
    return {**found, "factor": list(found["factor"])[:shown], "nodes": list(found["nodes"])[:shown]}
