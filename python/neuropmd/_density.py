"""What can be asked of a fitted density: the methods that all estimators share."""
from __future__ import annotations

import ctypes
import sys
import warnings
from ctypes import byref, c_char_p, c_int, c_size_t
from typing import Any, Union

import numpy as np

from . import _header as h
from ._domain import Domain, Path, Points, as_points, as_rows, coords_bits, in_coords, weigh
from ._library import Handle, NeuropmdWarning, call, compute, encoded, facts, library, take, take_json


class Model(Handle):
    """A fitted model of the library; immutable. It pickles as the bytes of its file."""

    _type = h.npmd_model

    def __reduce__(self) -> tuple:
        return _model_again, (self.pack(),)

    def pack(self) -> bytes:
        text, size = c_char_p(), c_size_t()
        call(library.npmd_model_pack, self, byref(text), byref(size))
        try:
            return ctypes.string_at(text, size.value)
        finally:
            library.npmd_text_free(text)


def _model_again(data: bytes) -> Model:
    return take(Model, library.npmd_model_unpack, data, len(data))


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator before ``fit``. With scikit-learn loaded, its own of this name is raised."""


def _not_fitted(estimator: Any) -> Exception:
    theirs = sys.modules.get("sklearn.exceptions")
    kind = theirs.NotFittedError if theirs is not None else NotFittedError
    return kind(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def seed_number(seed: Any) -> int:
    """A seed from 0 to 2^64 - 1, or a number drawn from a numpy generator."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(2**31 - 1))
    if isinstance(seed, (bool, float)) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed: {seed!r} was found where a whole number or a numpy generator was expected")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed: {seed} lies outside 0 .. 2^64 - 1")
    return int(seed)


class Density:
    """Methods of a fitted density. Points X are rows of ``domain_`` in the estimator's ``coords``."""

    model_: Model
    domain_: Domain
    coords: str | None
    threads: int | None
    device: str | None

    # ---- Inside

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise _not_fitted(self)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _compute(self) -> h.npmd_compute:
        return compute(self.threads, self.device)

    def _points(self, X: Any, domain: Domain | None = None) -> Points:
        """Rows of the domain, or of some factors of it."""
        rows, coords = as_rows(X), coords_bits(self.coords)
        if domain is not None:
            coords &= _coords_of(domain)
        else:
            domain, columns = self.domain_, library.npmd_points_columns(self.domain_, coords)
            if rows.shape[1] != columns:
                written = f" in {self.coords}" if coords else ""
                raise ValueError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {columns} "
                                 f"features as input: points of {domain.text}{written}")
        if coords == 0 and "S1" in domain.text and "mesh:" not in domain.text:
            most = np.abs(rows[:1000]).max(initial=0)  # an angle: the columns of a sphere are at most 1
            if most > 10 * np.pi:
                warnings.warn(f"an angle of {most:.4g} radians is among the points, more than five turns: are they "
                              'degrees? coords="degrees" takes them as such, also of neuropmd.load, since a model file '
                              "does not keep it", NeuropmdWarning, stacklevel=4)
        return as_points(rows, domain, coords)

    def _what(self, what: str) -> int:
        number = c_int()
        call(library.npmd_what_parse, what.replace("_", "-").encode(), byref(number))
        return number.value

    def _evaluate(self, X: Any, what: str) -> np.ndarray:
        model, kind, points = self._fitted(), self._what(what), self._points(X)
        n = library.npmd_points_count(points)
        out = np.empty((n, self.domain_.columns) if what == "gradient" else n)
        call(library.npmd_evaluate_at, model, points, kind, self._compute(), out)
        return out

    # ---- The density and its derivatives

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density at each row of X, per Riemannian volume; scikit-learn's name of ``log_density``.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.KDE("S1").fit(angles)
        >>> model.score_samples([[0.0], [3.0]]).argmax()
        0
        """
        return self._evaluate(X, "log-density")

    def log_density(self, X: Any) -> np.ndarray:
        """log f at each row of X, per Riemannian volume.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.KDE("S1").fit(angles)
        >>> bool(np.allclose(np.exp(model.log_density(angles)), model.density(angles)))
        True
        """
        return self._evaluate(X, "log-density")

    def density(self, X: Any) -> np.ndarray:
        """f at each row of X, per Riemannian volume.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.KDE("S1").fit(angles)
        >>> grid = np.arange(512)[:, None] * 2 * np.pi / 512
        >>> round(model.density(grid).mean() * 2 * np.pi, 6)      # its integral
        1.0
        """
        return self._evaluate(X, "density")

    def relative(self, X: Any) -> np.ndarray:
        """f times the volume of the domain: per uniform probability measure, 1 where it is as dense as on average.

        >>> import neuropmd
        >>> neuropmd.Uniform("S1").fit([[0.0], [1.0]]).relative([[2.0]]).tolist()
        [1.0]
        """
        return self._evaluate(X, "relative")

    def intensity(self, X: Any) -> np.ndarray:
        """The expected number of points per volume: n f, or the sum of the weights times f.

        >>> import math, neuropmd
        >>> model = neuropmd.Uniform("S1").fit([[0.0], [1.0]], sample_weight=[3.0, 4.0])
        >>> round(float(model.intensity([[2.0]])[0] * 2 * math.pi), 9)
        7.0
        """
        return self._evaluate(X, "intensity")

    def gradient(self, X: Any) -> np.ndarray:
        """The gradient of log f, a tangent vector at each row, in radians and the ambient columns of unit vectors.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.Series("S1", tau=1e-3).fit(angles)
        >>> model.gradient([[1.0]]).shape
        (1, 1)
        >>> bool(model.gradient([[1.0]])[0, 0] < 0)               # the density falls away from 0
        True
        """
        return self._evaluate(X, "gradient")

    def laplacian(self, X: Any) -> np.ndarray:
        """The Laplacian of log f; with meshes among other factors, of meshes scaled to area 4 pi.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> bool(neuropmd.Series("S1", tau=0.1).fit(angles).laplacian([[0.0]])[0] < 0)        # a maximum is near
        True
        """
        return self._evaluate(X, "laplacian")

    def ratio(self, X: Any) -> np.ndarray:
        """The density over that of the base, f / f0, of a Field with ``base``.

        >>> import numpy as np, neuropmd
        >>> x = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.Field("S1", base="kde", steps=20, tau=1e-3, omega=2.5).fit(x)
        >>> bool(abs(np.log(model.ratio(x))).max() < 1)
        True
        """
        return self._evaluate(X, "ratio")

    def spread(self, X: Any) -> np.ndarray:
        """The standard deviation of log f over the members of an ensemble; with ``bootstrap=True`` how sure it is.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.Series("S1", tau=1e-3, bootstrap=True, members=4).fit(angles)
        >>> bool(model.spread([[0.0]])[0] > 0)
        True
        """
        return self._evaluate(X, "spread")

    def band(self, X: Any) -> np.ndarray:
        """Half the width of the 95 % band of log f, of a model fitted with ``bootstrap=True``.

        The true log density is within it of ``score_samples`` for 95 % of the mass.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> model = neuropmd.Series("S1", tau=1e-3, bootstrap=True, members=4).fit(angles)
        >>> bool(model.band([[0.0]])[0] > model.spread([[0.0]])[0])
        True
        """
        return self._evaluate(X, "band")

    # ---- How good it is

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log density of the rows of X, in nats; higher is better. This is what GridSearchCV maximises.

        >>> import neuropmd
        >>> round(neuropmd.Uniform("S1").fit([[0.0], [1.0]]).score([[2.0], [3.0]]), 4)      # -log 2 pi
        -1.8379
        """
        values = self.score_samples(X)
        if len(values) == 0:
            raise ValueError("X has no rows; at least one was expected")
        if sample_weight is None:
            return float(np.mean(values))
        weigh(self._points(X), sample_weight)  # checks them
        weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), values.shape)
        return float(np.average(values, weights=weights))

    def scores(self, X: Any, seed: Any = 1) -> dict[str, float]:
        """All that ``neuropmd score`` tells: nll with its standard error, the ISE criterion, the log of the integral.

        >>> import neuropmd
        >>> neuropmd.Uniform("S1").fit([[0.0], [1.0]]).scores([[2.0], [3.0]])["n"]
        2
        """
        return facts(library.npmd_score_points, h.npmd_score, self._fitted(), self._points(X), seed_number(seed),
                     self._compute())

    # ---- Draws

    def sample(self, n: int = 1, seed: Any = 1, *, given: Any = None, at: Any = None) -> np.ndarray:
        """Independent draws, by rejection or, from kernels, directly. Equal seeds give equal draws.

        ``given`` names factors, counted from 1, and ``at`` their values: n draws of the others for each row of ``at``,
        as n x rows whole points. A numpy generator as the seed gives new draws with every call.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 2))
        >>> model = neuropmd.KDE("S1^2").fit(angles)
        >>> model.sample(5).shape
        (5, 2)
        >>> model.sample(5, given=2, at=[[3.0]])[:, 1].tolist()
        [3.0, 3.0, 3.0, 3.0, 3.0]
        """
        model, number = self._fitted(), seed_number(seed)
        if isinstance(n, (bool, float)) or n < 0:
            raise ValueError(f"n: {n!r} was found where a whole number of draws was expected")
        if (given is None) != (at is None):
            raise ValueError("given names factors and at holds their values: both are needed, or none")
        if given is None:
            x = np.empty((n, self.domain_.columns))
            call(library.npmd_sample, model, number, n, self._compute(), x, None)
        else:
            points = self._points(at, self.domain_.part(given))
            x = np.empty((n * library.npmd_points_count(points), self.domain_.columns))
            call(library.npmd_sample_given, model, self.domain_._bits(given), points, number, n, self._compute(), x,
                 None)
        return in_coords(x, self.domain_, coords_bits(self.coords))

    # ---- Some of the factors

    def _slice(self, function: Any, bits: int, points: Points, what: str, accuracy: float, seed: Any,
               return_error: bool) -> Union[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        n = library.npmd_points_count(points)
        out, error = np.empty(n), np.empty(n)
        call(function, self._fitted(), bits, points, self._what(what), accuracy, seed_number(seed), self._compute(),
             out, error)
        return (out, error) if return_error else out

    def marginal(self, X: Any, factors: Any, what: str = "log_density", *, accuracy: float = 0.0, seed: Any = 1,
                 return_error: bool = False) -> Union[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The marginal density of some factors at points X of their product, the others integrated out.

        ``factors`` are counted from 1, as in the domain: 1, "1,3" or [1, 3]. ``what`` is "log_density", "density",
        "relative" or "intensity". ``return_error`` also gives the standard error of the log, which is brought below
        ``accuracy`` (0: 1e-3) where that is possible.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 2))
        >>> model = neuropmd.KDE("S1^2").fit(angles)
        >>> grid = np.arange(256)[:, None] * 2 * np.pi / 256
        >>> round(model.marginal(grid, 1, "density").mean() * 2 * np.pi, 6)
        1.0
        """
        self._fitted()
        return self._slice(library.npmd_marginal_at, self.domain_._bits(factors),
                           self._points(X, self.domain_.part(factors)), what, accuracy, seed, return_error)

    def conditional(self, X: Any, given: Any, what: str = "log_density", *, accuracy: float = 0.0, seed: Any = 1,
                    return_error: bool = False) -> Union[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The conditional density of the other factors given these, at whole points X. Factors are counted from 1.

        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 2))
        >>> model = neuropmd.KDE("S1^2").fit(angles)
        >>> grid = np.column_stack([np.arange(256) * 2 * np.pi / 256, np.full(256, 0.5)])
        >>> round(model.conditional(grid, given=2, what="density").mean() * 2 * np.pi, 6)
        1.0
        """
        self._fitted()
        return self._slice(library.npmd_conditional_at, self.domain_._bits(given), self._points(X), what, accuracy,
                           seed, return_error)

    def probability(self, center: Any, radius: Any, *, accuracy: float = 0.0, seed: Any = 1) -> dict[str, float]:
        """The probability of all points whose every factor lies within its radius of ``center``'s.

        ``radius`` is one number or one a factor, in radians; with ``coords``, whatever they are, in degrees, as the
        program takes it. The answer holds share (of the volume), probability, its standard error se, and, of a model fitted
        with ``bootstrap=True``, low and high, between which the truth lies with 95 %.

        >>> import neuropmd
        >>> model = neuropmd.Uniform("S1").fit([[0.0], [1.0]])
        >>> round(model.probability([0.0], 0.5)["probability"], 6)        # 1 / 2 pi
        0.159155
        """
        model, points = self._fitted(), self._points(np.atleast_2d(np.asarray(center, dtype=np.float64)))
        if library.npmd_points_count(points) != 1:
            raise ValueError(f"center: one point was expected, {library.npmd_points_count(points)} were found")
        radii = np.empty(self.domain_.factors)
        radii[:] = np.radians(radius) if coords_bits(self.coords) else radius
        return facts(library.npmd_probability_near, h.npmd_probability, model, points, radii, accuracy,
                     seed_number(seed), self._compute())

    # ---- The model itself

    def info(self) -> dict[str, Any]:
        """All options and choices of the fitted model, as ``neuropmd info --json`` gives them.

        >>> import neuropmd
        >>> neuropmd.Uniform("S1").fit([[0.0], [1.0]]).info()["estimator"]
        'uniform'
        """
        return take_json(library.npmd_model_describe, self._fitted())

    def save(self, path: Path) -> None:
        """Writes the model as a safetensors file, all that is needed to evaluate it; ``neuropmd.load`` reads it.

        How points are written, ``coords``, is not part of a model: ``load`` takes it again. A pickle keeps it.

        >>> import neuropmd, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> neuropmd.Uniform("S1").fit([[0.0], [1.0]]).save(path)
        >>> type(neuropmd.load(path)).__name__
        'Uniform'
        """
        call(library.npmd_save, self._fitted(), encoded(path))

    def to_bytes(self) -> bytes:
        """The bytes that ``save`` writes. Equal fits are equal bytes.

        >>> import neuropmd
        >>> model = neuropmd.Uniform("S1").fit([[0.0], [1.0]])
        >>> model.to_bytes() == neuropmd.Uniform("S1").fit([[0.0], [1.0]]).to_bytes()
        True
        """
        return self._fitted().pack()


def _coords_of(domain: Domain) -> int:
    """The coordinates that mean something to a domain, of which some factors may have been left out."""
    return h.NPMD_COORDS_LATLON * ("S2" in domain.text) | h.NPMD_COORDS_DEGREES * ("S1" in domain.text)
