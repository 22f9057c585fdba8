"""Domains, and arrays as points of them."""
from __future__ import annotations

import operator
import os
from ctypes import byref, c_uint
from typing import Any, Iterable, Union

import numpy as np

from . import _header as h
from ._library import Handle, call, encoded, library, option_text, take

Path = Union[str, "os.PathLike[str]"]

LARGE = 64 << 20  # bytes: larger arrays stay where they are, as larger files do; smaller ones are converted once


class _DomainHandle(Handle):
    _type = h.npmd_domain


class Points(Handle):
    """Checked points of a domain; they keep the array that they borrow."""

    _type = h.npmd_points
    array: Any = None


class _Lent:
    """A domain that belongs to another object, which is kept."""

    def __init__(self, pointer: h.npmd_domain, owner: Any):
        self._as_parameter_ = pointer
        self.owner = owner


class Domain:
    """A product of circles, spheres and closed triangle meshes: ``"S1^2"``, ``"T4"``, ``"S2 x S1"``,
    ``"mesh:lh.white.gii^2"``.

    A point is a row: one angle in radians for each S1, a unit vector (three columns) for each S2, a position x y z for
    each mesh.

    Parameters
    ----------
    text : str or Domain
        The product.
    elements : int
        Finite elements behind the eigenfunctions of meshes: 1 linear, 2 quadratic.
    max_frequency : int or one a factor
        Of meshes, (max_frequency + 1)^2 eigenpairs are computed; 0: 15, fewer on small meshes.
    cache : path, optional
        A folder that keeps eigenpairs of meshes.
    max_distance : float, optional
        How far points may lie from their mesh, in its units; by default a thousandth of the square root of its area.

    Attributes
    ----------
    text, factors, columns, dimension, volume

    Examples
    --------
    >>> from neuropmd import Domain
    >>> earth = Domain("S2 x S1")
    >>> earth.factors, earth.columns, earth.dimension
    (2, 4, 3)
    >>> round(earth.volume, 4)                       # 4 pi times 2 pi
    78.9568
    """

    def __init__(self, text: Union[str, "Domain"], *, elements: int = 1, max_frequency: Any = 0,
                 cache: Path | None = None, max_distance: float | None = None):
        if isinstance(text, Domain):
            text = text._made_of[0]
        if not isinstance(text, str):
            raise TypeError(f'domain: {type(text).__name__} was found where a text as "S1^2" or a Domain was expected')
        how = h.npmd_surface_options(elements=elements, max_frequency=option_text(max_frequency),
                                     cache=None if cache is None else encoded(cache))
        handle = take(_DomainHandle, library.npmd_domain_parse_with, encoded(text), byref(how))
        if max_distance is not None:
            handle = take(_DomainHandle, library.npmd_domain_within, handle, max_distance)
        self._hold(handle, (text, elements, max_frequency, cache, max_distance))

    def _hold(self, handle: Any, made_of: tuple | None) -> "Domain":
        self._as_parameter_ = handle._as_parameter_
        self._handle = handle
        self._made_of = made_of
        self.text: str = library.npmd_domain_text(self).decode()
        self.factors: int = library.npmd_domain_factors(self)
        self.columns: int = library.npmd_domain_columns(self)
        self.dimension: int = library.npmd_domain_dimension(self)
        self.volume: float = library.npmd_domain_volume(self)
        return self

    @classmethod
    def _of(cls, handle: Any) -> "Domain":
        """One that the library made or lends; made again from its text where that says it all."""
        self = cls.__new__(cls)
        self._hold(handle, None)
        if "mesh:" not in self.text:
            self._made_of = (self.text, 1, 0, None, None)
        return self

    def uniform(self, u: Any) -> np.ndarray:
        """Maps rows of the unit cube, ``dimension`` columns in [0, 1), to uniformly distributed points.

        >>> import numpy as np
        >>> from neuropmd import Domain
        >>> north = Domain("S2").uniform(np.random.default_rng(1).random((1000, 2)))
        >>> bool(np.allclose(np.linalg.norm(north, axis=1), 1))
        True
        """
        u = as_rows(u, "u")
        if u.shape[1] != self.dimension:
            raise ValueError(f"u has {u.shape[1]} columns, {self.text} has {self.dimension} dimensions")
        if u.size and not (u.min() >= 0.0 and u.max() < 1.0):  # NaN fails, too
            raise ValueError("u: numbers in [0, 1) were expected")
        u = np.ascontiguousarray(u, dtype=np.float64)
        x = np.empty((len(u), self.columns))
        call(library.npmd_domain_uniform, self, u, len(u), x)
        return x

    def part(self, factors: Any) -> "Domain":
        """The product of some factors, which are counted from 1.

        >>> from neuropmd import Domain
        >>> Domain("S2 x S1").part(2)
        Domain('S1')
        """
        return Domain._of(take(_DomainHandle, library.npmd_domain_part, self, self._bits(factors)))

    def _bits(self, factors: Any) -> int:
        """Factors as the library takes them: 1, "1,3" or [1, 3]."""
        if not isinstance(factors, str):
            many = factors if isinstance(factors, Iterable) else [factors]
            factors = ",".join(str(operator.index(one)) for one in many)
        bits = c_uint()
        call(library.npmd_factors_parse, factors.encode(), self, byref(bits))
        return bits.value

    def __repr__(self) -> str:
        return f"Domain({self.text!r})"

    def __eq__(self, other: Any) -> bool:
        return (isinstance(other, Domain) and self.text == other.text
                and ("mesh:" not in self.text or self._made_of == other._made_of))

    def __hash__(self) -> int:
        return hash(self.text)

    def __copy__(self) -> "Domain":
        return self

    def __deepcopy__(self, memo: dict) -> "Domain":  # it never changes, and a mesh's eigenpairs took time
        return self

    def __reduce__(self) -> tuple:
        if self._made_of is not None:
            return _domain_again, self._made_of
        if isinstance(self._handle, _Lent):
            return _domain_of, (self._handle.owner,)
        raise TypeError(f"{self!r} is a part of another domain and cannot be pickled by itself")


def _domain_again(text: str, elements: int, max_frequency: Any, cache: Path | None,
                  max_distance: float | None) -> Domain:
    return Domain(text, elements=elements, max_frequency=max_frequency, cache=cache, max_distance=max_distance)


def _domain_of(model: Any) -> Domain:
    return Domain._of(_Lent(library.npmd_model_domain(model), model))


def coords_bits(coords: str | None) -> int:
    """"latlon", "degrees" or "latlon,degrees" as the library takes it."""
    bits = c_uint()
    if coords is not None:
        if not isinstance(coords, str):
            raise TypeError(f"coords: {type(coords).__name__} was found where a text was expected")
        call(library.npmd_coords_parse, coords.encode(), byref(bits))
    return bits.value


def as_rows(X: Any, name: str = "X") -> np.ndarray:
    """X as an array of two dimensions and of numbers; nothing is copied that is one already."""
    if hasattr(X, "tocsr") or hasattr(X, "todense"):
        raise TypeError(f"{name}: a sparse matrix was passed, but dense data are required; use X.toarray()")
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise ValueError(f"{name}: {int(np.ma.getmaskarray(X).sum())} entries are masked; leave their rows out")
    rows = np.asarray(X)
    if rows.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported; real numbers were expected")
    if rows.dtype.kind in "OSU":  # numbers in disguise, or an error that says what is none
        rows = rows.astype(np.float64)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {rows.dtype}; numbers were expected")
    if rows.ndim != 2:
        hint = "" if rows.ndim > 2 else (f"; Reshape your data: {name}.reshape(-1, 1) is one column, "
                                         f"{name}.reshape(1, -1) one row")
        raise ValueError(f"{name}: Expected 2D array, one row a point; got {rows.ndim}D array instead, of shape "
                         f"{rows.shape}{hint}")
    return rows


def as_points(X: Any, domain: Domain, coords: int = 0, name: str = "X") -> Points:
    """Rows as points. Large arrays of float64 or float32 in C order, memory-mapped ones among them, are not copied."""
    rows = as_rows(X, name)
    if rows.nbytes > LARGE and rows.flags.c_contiguous and rows.dtype in (np.float64, np.float32):
        points = take(Points, library.npmd_points_borrow, rows.ctypes.data, int(rows.dtype == np.float32), *rows.shape,
                      domain, coords)
        points.array = rows
        return points
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    return take(Points, library.npmd_points_from, rows, *rows.shape, domain, coords)


def rows_of(points: Points, domain: Domain, coords: int = 0) -> np.ndarray:
    """Points as rows in these coordinates."""
    rows = np.empty((library.npmd_points_count(points), library.npmd_points_columns(domain, coords)))
    call(library.npmd_points_rows, points, coords, rows)
    return rows


def weigh(points: Points, weights: Any) -> None:
    """One weight a point, from an array; a single number weighs all alike."""
    n = library.npmd_points_count(points)
    w = np.asarray(weights)
    if w.dtype.kind not in "fiubO":
        raise ValueError(f"sample_weight holds {w.dtype}; numbers were expected")
    if w.ndim == 0:
        w = np.full(n, w)
    if w.ndim != 1:
        raise ValueError(f"sample_weight has shape {w.shape}; one number a point, ({n},), was expected")
    w = np.ascontiguousarray(w, dtype=np.float64)
    call(library.npmd_points_weigh_by, points, w, len(w))


def in_coords(x: np.ndarray, domain: Domain, coords: int) -> np.ndarray:
    """Rows of the domain in a user's coordinates."""
    return x if coords == 0 else rows_of(as_points(x, domain), domain, coords)


def read_points(path: Path, domain: Union[str, Domain], coords: str | None = None) -> np.ndarray:
    """Points from a file, checked and in canonical form: .csv .tsv .txt (also .gz), .npy or file.mat:variable.

    Angles come back in [0, 2 pi), vectors of unit length, points of a mesh on it. ``coords`` says how the file writes
    them: "latlon" has latitude and longitude in degrees for each S2, "degrees" degrees for each S1, "latlon,degrees"
    both.

    >>> import neuropmd, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "angles.csv")
    >>> neuropmd.write_points(path, "S1", [[0.5], [1.5]])
    >>> neuropmd.read_points(path, "S1").tolist()
    [[0.5], [1.5]]
    """
    domain = domain if isinstance(domain, Domain) else Domain(domain)
    return rows_of(take(Points, library.npmd_points_read, encoded(path), domain, coords_bits(coords),
                        path=os.fspath(path)), domain)


def write_points(path: Path, domain: Union[str, Domain], X: Any, coords: str | None = None) -> None:
    """Writes points to a file by its suffix, .csv .tsv .txt or .npy, in these coordinates; X is in radians and unit
    vectors.

    >>> import neuropmd, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "poles.csv")
    >>> neuropmd.write_points(path, "S2", [[0, 0, 1], [0, 0, -1]], coords="latlon")
    >>> neuropmd.read_points(path, "S2", coords="latlon")[:, 2].round(12).tolist()
    [1.0, -1.0]
    """
    domain = domain if isinstance(domain, Domain) else Domain(domain)
    x = rows_of(as_points(X, domain), domain)
    call(library.npmd_points_write, encoded(path), domain, coords_bits(coords), x, len(x))
