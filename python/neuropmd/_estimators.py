"""The estimators, in scikit-learn's manner and without needing it: parameters are attributes, ``fit`` adds names that
end in an underscore.

A parameter of None is not given: the library's default, or that of a preset, holds. Those in a signature are the common
ones; every other option of ``neuropmd.options()`` is a keyword as well.
"""
from __future__ import annotations

import difflib
import inspect
import os
import warnings
from ctypes import c_char_p
from typing import Any, Mapping, Sequence, TypeVar, Union

from . import _header as h
from . import _library
from ._density import Density, Model
from ._domain import Domain, Path, _domain_of, as_points, as_rows, coords_bits, weigh
from ._fit import Progress, watched
from ._library import (OPTIONS, Handle, NeuropmdWarning, call, encoded, facts, library, option_text, python_words, take,
                       texts)

Numbers = Union[float, Sequence[float], None]
Self = TypeVar("Self", bound="Estimator")


class _Options(Handle):
    _type = h.npmd_options


class Estimator(Density):
    """What all estimators share: parameters, fit, pickling. Use Field, Series, KDE, PSNF, Relu, Stack or Uniform.

    Attributes after ``fit``
    ------------------------
    model_ : the library's model
    domain_ : Domain
    n_features_in_ : columns of X
    tau_ : the weight of the penalty that was used
    facts_ : dict with seconds, steps, objective, log_integral and its error, restarts, ...
    choice_ : list of what was compared when settings were chosen
    rivals_ : list of what other estimators score on the same held-out points
    parts_ : list of what a stack or an ensemble is made of
    warnings_ : list of sentences
    interrupted_ : whether the fit was stopped before its end
    """

    _kind = ""
    _estimator_type = "DensityEstimator"

    # ---- Parameters

    def _take(self, given: dict[str, Any]) -> None:
        """Parameters of __init__, from its locals(), become attributes; other options are looked up in the table."""
        others = given.pop("options")
        for name in others:
            if name not in OPTIONS:
                raise TypeError(self._unknown(name))
        # all of them: a class made from this one may have a signature of its own
        for name, value in [*given.items(), *others.items()]:
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    @classmethod
    def _signature(cls) -> list[str]:
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return [p.name for p in inspect.signature(cls).parameters.values() if p.kind in plain]

    def _unknown(self, name: str) -> str:
        known = sorted({*self._signature(), *OPTIONS})
        near = ["seed"] if name == "random_state" else difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; neuropmd.options() lists them"
        return f"{type(self).__name__} has no parameter {name!r}{hint}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters: those of the signature, and every other option that was given.

        >>> import neuropmd
        >>> neuropmd.KDE("S1", kappa=20).get_params()["kappa"]
        20
        """
        kinds = [p.kind for p in inspect.signature(type(self)).parameters.values()]
        more = inspect.Parameter.VAR_KEYWORD in kinds  # else a class with parameters of its own, which clone asks for
        others = [name for name in vars(self) if more and name in OPTIONS and name not in self._signature()]
        return {name: getattr(self, name) for name in [*self._signature(), *others]}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters, any option among them.

        >>> import neuropmd
        >>> neuropmd.Series("S1").set_params(tau=1e-3)
        Series(domain='S1', tau=0.001)
        """
        for name in params:
            if name not in OPTIONS and name not in self._signature():
                raise ValueError(f"Invalid parameter: {self._unknown(name)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({words})"

    def __sklearn_tags__(self) -> Any:  # scikit-learn from 1.6 on
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="density_estimator", target_tags=TargetTags(required=False))

    def _options(self, domain: Domain | None = None) -> _Options:
        """The parameters as the library's options: the preset first, which others overrule."""
        made = _Options(library.npmd_options_new())
        if not made._as_parameter_:
            raise MemoryError("not enough memory for the options of a fit")
        given = {name: value for name, value in vars(self).items() if name in OPTIONS and value is not None}
        if _library.forked and not given.get("threads"):
            given["threads"] = 1
        for name in sorted(given, key=lambda one: one != "preset"):
            call(library.npmd_options_set, made, OPTIONS[name]["option"].encode(), option_text(given[name]))
        call(library.npmd_options_set, made, b"estimator", self._kind.encode())
        return made

    def _domain(self, columns: int) -> Domain:
        """The domain of a fit; None: a circle for each column. A mesh gets the pairs that max_frequency asks for."""
        if isinstance(self.domain, Domain):
            return self.domain
        if self.domain is None:
            return Domain(f"S1^{columns}")
        frequency = getattr(self, "max_frequency", None)
        return Domain(self.domain, max_frequency=0 if frequency is None else frequency)

    # ---- Fitting

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = None) -> Self:
        """Fits to the rows of X.

        Parameters
        ----------
        X : array of shape (n, columns of the domain)
            Points: one angle in radians for each S1, a unit vector for each S2, a position for each mesh (or in
            ``coords``). Large arrays of float64 or float32 in C order, also memory-mapped ones, are not copied.
        y : ignored
        sample_weight : array of shape (n,), optional
            A weight of 2 counts as a point twice.
        progress : True or a function, optional
            True shows a bar by tqdm, or without it a line every few seconds. A function is called with each report
            (step, steps, objective, seconds, member, part, ...) in the thread that called ``fit``; if it
            returns something true, the fit stops there and keeps the model.

        Returns
        -------
        self

        Notes
        -----
        The interpreter lock is released. Ctrl-C stops the fit within a fraction of a second: the model so far is set,
        with ``interrupted_`` True, and KeyboardInterrupt is raised. Any other exception in the calling thread, as in
        ``progress``, does the same.

        Examples
        --------
        >>> import numpy as np, neuropmd
        >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
        >>> neuropmd.KDE("S1").fit(angles).interrupted_
        False
        """
        return self._fit(library.npmd_fit, X, sample_weight, progress, ())

    def _fit(self: Self, function: Any, X: Any, sample_weight: Any, progress: Progress, more: tuple) -> Self:
        rows = as_rows(X)
        if rows.shape[1] == 0:
            raise ValueError(f"X: Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
        if len(rows) < 2:
            raise ValueError(f"X: Found array with {len(rows)} sample(s) (shape={rows.shape}); a density needs at "
                             "least two distinct points")
        options = self._options()
        domain = self._domain(rows.shape[1])
        points = as_points(rows, domain, coords_bits(self.coords))
        if sample_weight is not None:
            weigh(points, sample_weight)
        pointer, raised = watched(function, options, (domain, points, options, *more), progress)
        if pointer is not None:
            self._hold(Model(pointer), rows.shape[1])
            for text in self.warnings_:
                warnings.warn(text, NeuropmdWarning, stacklevel=3)
        if raised is not None:
            raise raised
        return self

    def _hold(self, model: Model, columns: int) -> None:
        """Everything that a model tells, as attributes."""
        self.model_ = model
        self.domain_ = _domain_of(model)
        self.n_features_in_ = columns
        self.facts_ = facts(library.npmd_model_facts, h.npmd_fit_facts, model)
        self.interrupted_ = bool(self.facts_.pop("interrupted"))
        self.tau_ = self.facts_["tau"]
        self.warnings_ = [python_words(text) for text in texts(lambda i: library.npmd_model_warning(model, i))]
        self.parts_ = [facts(library.npmd_model_part, h.npmd_part, model, i)
                       for i in range(library.npmd_model_parts(model))]
        choice = facts(library.npmd_model_choice, h.npmd_choice, model)
        self.choice_ = [facts(library.npmd_model_choice_row, h.npmd_choice_row, model, i)
                        for i in range(choice["rows"])]
        self.rivals_ = [facts(library.npmd_model_rival, h.npmd_rival, model, i) for i in range(choice["rivals"])]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        state.pop("domain_", None)  # the model has it
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "model_" in state:
            self.domain_ = _domain_of(self.model_)


class Field(Estimator):
    """A sine network on random eigenfunctions, fitted by penalised likelihood: the neural field of the paper.

    Parameters
    ----------
    domain : str, Domain or None
        "S1^2", "S2 x S1", "mesh:FILE"; None: a circle for each column of X.
    coords : str, optional
        "latlon": latitude and longitude in degrees for each S2; "degrees": degrees for each S1; "latlon,degrees": both.
    preset : str, optional
        "quick", "default", "best", "paper-t2", "paper-t4", "paper-s2s2".
    tau : float or "auto", optional
        Weight of the penalty; by default chosen by held-out points.
    max_frequency, features, width, depth, steps
        Size of the encoding and the network, length of the training.
    members, bootstrap
        An ensemble: better than one fit, and ``spread`` says how sure it is.
    seed, threads, device
        All random numbers follow from the seed; threads never change the answer.
    **options
        Every other option of ``neuropmd.options("field")``.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
    >>> model = neuropmd.Field("S1", tau=1e-3, steps=100, width=16).fit(angles)
    >>> round(model.score(angles)) <= -1
    True
    """

    _kind = "field"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, preset: str | None = None,
                 tau: Union[float, str, None] = None, max_frequency: Numbers = None, features: int | None = None,
                 width: int | None = None, depth: int | None = None, steps: int | None = None,
                 members: int | None = None, bootstrap: bool | None = None, seed: int | None = None,
                 threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class Series(Estimator):
    """A linear series of eigenfunctions under the same penalty, solved to its optimum by Newton's method.

    Parameters as in Field; ``penalty`` and ``solver`` as in ``neuropmd.options("series")``.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (500, 1))
    >>> model = neuropmd.Series("S1", tau=1e-2).fit(angles)
    >>> truth = 2 * np.cos(1.0) - np.log(2 * np.pi * np.i0(2.0))
    >>> bool(abs(model.log_density([[1.0]])[0] - truth) < 0.2)
    True
    """

    _kind = "series"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None,
                 tau: Union[float, str, None] = None, max_frequency: Numbers = None, penalty: str | None = None,
                 solver: str | None = None, members: int | None = None, bootstrap: bool | None = None,
                 seed: int | None = None, threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class KDE(Estimator):
    """Von Mises and von Mises-Fisher kernels, of one width, of widths by the distance of near points, or mixed.

    Parameters
    ----------
    kappa : float or one a factor, optional
        Concentration of the kernels; by default chosen by the exact least-squares criterion.
    bandwidth : "fixed", "adaptive" or "mixture", optional
    concentration, concentration_rule, neighbours
        As in ``neuropmd.options("kde")``; the other parameters as in Field.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
    >>> model = neuropmd.KDE("S1").fit(angles)
    >>> model.info()["estimator"]
    'kde'
    """

    _kind = "kde"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, kappa: Numbers = None,
                 bandwidth: str | None = None, concentration: str | None = None, concentration_rule: str | None = None,
                 neighbours: int | None = None, members: int | None = None, bootstrap: bool | None = None,
                 seed: int | None = None, threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class PSNF(Estimator):
    """A squared family whose integral is known in closed form: the square of a sum of sine or exponential units.

    Parameters as in Field.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
    >>> model = neuropmd.PSNF("S1", width=8, steps=50).fit(angles)
    >>> model.facts_["steps"]
    50
    """

    _kind = "psnf"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, preset: str | None = None,
                 width: int | None = None, steps: int | None = None, rate: float | None = None,
                 members: int | None = None, bootstrap: bool | None = None, seed: int | None = None,
                 threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class Relu(Estimator):
    """A ReLU network on coordinates, stopped early: what the paper compares the field with.

    Parameters as in Field.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
    >>> model = neuropmd.Relu("S1", width=8, depth=2, steps=50).fit(angles)
    >>> model.density(angles).shape
    (200,)
    """

    _kind = "relu"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, preset: str | None = None,
                 width: int | None = None, depth: int | None = None, steps: int | None = None,
                 rate: float | None = None, members: int | None = None, bootstrap: bool | None = None,
                 seed: int | None = None, threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class Stack(Estimator):
    """Fields, series, kernels and the uniform density, mixed as held-out points ask for: most accurate, and slowest.

    Parameters as in Field; ``folds`` is the number of shares of the points that are held out in turn.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (100, 1))
    >>> model = neuropmd.Stack("S1", tau=1e-3, steps=20, width=8, members=1).fit(angles)
    >>> round(sum(part["weight"] for part in model.parts_), 6)
    1.0
    """

    _kind = "stack"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, preset: str | None = None,
                 tau: Union[float, str, None] = None, max_frequency: Numbers = None, steps: int | None = None,
                 members: int | None = None, folds: int | None = None, seed: int | None = None,
                 threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class Auto(Estimator):
    """The best of field, series and kernels, or their stack, as held-out points ask for.

    Parameters as in Stack; ``facts_["estimator"]`` says which it became.

    Examples
    --------
    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (100, 1))
    >>> model = neuropmd.Auto("S1", tau=1e-3, steps=20, width=8).fit(angles)
    >>> model.facts_["estimator"] in ("field", "series", "kde", "stack", "uniform")
    True
    """

    _kind = "auto"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, preset: str | None = None,
                 tau: Union[float, str, None] = None, max_frequency: Numbers = None, steps: int | None = None,
                 members: int | None = None, folds: int | None = None, seed: int | None = None,
                 threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


class Uniform(Estimator):
    """The uniform density: what every other has to beat.

    Examples
    --------
    >>> import math, neuropmd
    >>> model = neuropmd.Uniform("S2").fit([[0, 0, 1], [0, 1, 0]])
    >>> math.isclose(model.density([[1, 0, 0]])[0], 1 / (4 * math.pi))
    True
    """

    _kind = "uniform"

    def __init__(self, domain: Union[str, Domain, None] = None, *, coords: str | None = None, seed: int | None = None,
                 threads: int | None = None, device: str | None = None, **options: Any):
        self._take(locals())


CLASSES = {cls._kind: cls for cls in (Field, Series, KDE, PSNF, Relu, Stack, Auto, Uniform)}


def _is_default(value: Any, default: str) -> bool:
    """Whether an option in a model file has the table's default; numbers compare as numbers."""
    text = option_text(value).decode()
    try:
        return float(text) == float(default)
    except ValueError:
        return text == default


def load(path: Path, coords: str | None = None) -> Estimator:
    """A model from a file, as an estimator of its class whose parameters are the file's options.

    Those are the sizes that the fit used, so that ``fit`` again with the same points gives the same model; but of a
    Stack, whose parts choose their own sizes where none are given. ``coords`` says how points will be written, as in
    Field: a model file does not keep how those of the fit were.

    >>> import neuropmd, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> neuropmd.KDE("S1", kappa=5).fit([[0.0], [1.0]]).save(path)
    >>> model = neuropmd.load(path)
    >>> type(model).__name__, model.kappa
    ('KDE', [5.0])
    """
    return _from_model(take(Model, library.npmd_load, encoded(path), path=os.fspath(path)), coords)


def from_bytes(data: bytes, coords: str | None = None) -> Estimator:
    """The same from bytes that ``to_bytes`` gave, or that a file holds.

    >>> import neuropmd
    >>> neuropmd.from_bytes(neuropmd.Uniform("S1").fit([[0.0], [1.0]]).to_bytes()).domain
    'S1'
    """
    return _from_model(take(Model, library.npmd_model_unpack, bytes(data), len(data)), coords)


def _from_model(model: Model, coords: str | None) -> Estimator:
    found = Uniform()  # to ask it
    found._hold(model, 0)
    info = found.info()
    kind = CLASSES[info["estimator"]]
    params = {name: info["options"][row["option"]] for name, row in OPTIONS.items()
              if row["option"] in info["options"] and kind._kind in row["estimators"]
              and not _is_default(info["options"][row["option"]], row["default"])}
    domain = found.domain_
    made = kind(domain.text if domain._made_of is not None else domain, coords=coords, **params)
    made._hold(model, library.npmd_points_columns(domain, coords_bits(coords)))
    return made


def select(estimator: Self, X: Any, over: Mapping[str, Sequence[Any]], sample_weight: Any = None, *,
           progress: Progress = None) -> Self:
    """Fits with settings that are chosen first: every combination of ``over`` is compared on held-out points.

    ``over`` maps options to values, as {"steps": [250, 500]}. Each has its own tau where the estimator leaves it open.
    The better half goes on to longer fits, the best is fitted to all points. Returns the estimator itself, fitted;
    ``choice_`` is the table. scikit-learn's GridSearchCV works as well, and fits each combination in full.

    >>> import numpy as np, neuropmd
    >>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (200, 1))
    >>> model = neuropmd.select(neuropmd.Series("S1", tau=1e-3), angles, {"max_frequency": [3, 5]})
    >>> len(model.choice_)
    2
    """
    lists = []
    for name, values in over.items():
        if name not in OPTIONS:
            raise ValueError(estimator._unknown(name))
        if isinstance(values, (str, bytes)):
            raise ValueError(f"over: {name} is the text {values!r}; a list of values was expected")
        lists.append(OPTIONS[name]["option"].encode() + b"=" + b":".join(option_text(value) for value in values))
    array = (c_char_p * len(lists))(*lists)
    return estimator._fit(library.npmd_select, X, sample_weight, progress, (array, len(lists)))
