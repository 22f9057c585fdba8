"""Densities known in closed form: draws from them, and how far an estimate is from one."""
from __future__ import annotations

import os
from ctypes import byref, c_double
from typing import Any, Union

import numpy as np

from . import _header as h
from ._density import Density, seed_number
from ._domain import Domain, Path, _Lent, as_points, rows_of
from ._library import Handle, call, compute, encoded, facts, library, take


class Truth(Handle):
    """A density known in closed form: the paper's "t2", "t4" or "t2-authors", or a file of a mixture or a grid.

    Examples
    --------
    >>> import neuropmd
    >>> truth = neuropmd.Truth("t2-authors")
    >>> truth.domain
    Domain('S1^2')
    >>> truth.sample(3).shape
    (3, 2)
    """

    _type = h.npmd_truth
    RECIPES = ("t2", "t4", "t2-authors")

    def __init__(self, what: Path, seed: Any = 0):
        name = os.fspath(what)
        pointer = h.npmd_truth()
        if name in self.RECIPES or name.startswith("gauntlet:"):
            call(library.npmd_truth_make, name.encode(), seed_number(seed), byref(pointer))
        else:
            call(library.npmd_truth_read, encoded(name), byref(pointer), path=name)
        super().__init__(pointer)
        self.domain = Domain._of(_Lent(library.npmd_truth_domain(self), self))

    def sample(self, n: int, seed: Any = 1) -> np.ndarray:
        """Independent draws; equal seeds give equal draws.

        >>> import neuropmd
        >>> neuropmd.Truth("t2-authors").sample(10).shape
        (10, 2)
        """
        x = np.empty((n, self.domain.columns))
        call(library.npmd_truth_sample, self, seed_number(seed), n, compute(), x)
        return x

    def log_density(self, X: Any) -> np.ndarray:
        """log f at each row of X.

        >>> import neuropmd
        >>> neuropmd.Truth("t2-authors").log_density([[0.0, 1.0]]).shape
        (1,)
        """
        x = rows_of(as_points(X, self.domain), self.domain)
        out = np.empty(len(x))
        call(library.npmd_truth_log_density, self, x, len(x), compute(), out)
        return out

    def entropy(self, seed: Any = 1) -> tuple[float, float]:
        """The entropy in nats, and its standard error.

        >>> import neuropmd
        >>> round(neuropmd.Truth("t2-authors").entropy()[0], 2)
        2.01
        """
        value, error = c_double(), c_double()
        call(library.npmd_truth_entropy, self, seed_number(seed), compute(), byref(value), byref(error))
        return value.value, error.value

    def save(self, path: Path) -> None:
        """Writes it as JSON, for the program's evaluate, fit and simulate.

        >>> import neuropmd, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "truth.json")
        >>> neuropmd.Truth("t2-authors").save(path)
        >>> neuropmd.Truth(path).domain
        Domain('S1^2')
        """
        call(library.npmd_truth_write, self, encoded(path))


def simulate(what: Union[Path, Truth], n: int, seed: Any = 1, truth_seed: Any = 0) -> tuple[np.ndarray, Truth]:
    """n points drawn from a known density, and the density.

    >>> import neuropmd
    >>> points, truth = neuropmd.simulate("t2-authors", 100)
    >>> points.shape
    (100, 2)
    """
    truth = what if isinstance(what, Truth) else Truth(what, seed=truth_seed)
    return truth.sample(n, seed), truth


def evaluate(model: Density, truth: Union[Path, Truth], *, grid: str = "fine", points: int = 0,
             seed: Any = 1) -> dict[str, float]:
    """The distance of a fitted density from a known one: nise, ae, fr, fr2, kl and their standard errors.

    ``grid`` is "fine", or "authors" for the paper's 100 x 100 nodes on T2. ``points`` of 0 is chosen by the domain.

    >>> import neuropmd
    >>> points, truth = neuropmd.simulate("t2-authors", 500)
    >>> 0 < neuropmd.evaluate(neuropmd.KDE("S1^2").fit(points), truth)["nise"] < 0.2
    True
    """
    grids = {"fine": h.NPMD_GRID_FINE, "authors": h.NPMD_GRID_AUTHORS}
    if grid not in grids:
        raise ValueError(f"grid: {grid!r} was found where one of {', '.join(grids)} was expected")
    truth = truth if isinstance(truth, Truth) else Truth(truth)
    return facts(library.npmd_compare, h.npmd_comparison, model._fitted(), truth, grids[grid], points,
                 seed_number(seed), model._compute())
