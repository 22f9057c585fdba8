"""neuropmd - densities of points on products of circles, spheres and closed triangle meshes.

>>> import numpy as np, neuropmd
>>> angles = np.random.default_rng(1).vonmises(0.0, 2.0, (500, 2))
>>> model = neuropmd.Series("S1^2", tau=1e-3).fit(angles)
>>> model.score_samples(angles).shape
(500,)
>>> model.sample(10).shape
(10, 2)

Estimators: Field, Series, KDE, PSNF, Relu, Stack, Auto, Uniform. ``neuropmd.options()`` lists what they take. They need numpy
and the library that the package carries; scikit-learn and tqdm are used where they are there.
"""
from ._density import Density, Model, NotFittedError
from ._domain import Domain, read_points, write_points
from ._estimators import KDE, PSNF, Auto, Estimator, Field, Relu, Series, Stack, Uniform, from_bytes, load, select
from ._figures import plot, plot_kinds, view
from ._library import NeuropmdWarning, build, options, version
from ._surface import Surface, eigen
from ._truth import Truth, evaluate, simulate

__version__ = version()
__all__ = [
    "Auto", "Density", "Domain", "Estimator", "Field", "KDE", "Model", "NeuropmdWarning", "NotFittedError", "PSNF", "Relu",
    "Series", "Stack", "Surface", "Truth", "Uniform", "build", "eigen", "evaluate", "from_bytes", "load", "options",
    "plot", "plot_kinds", "read_points", "select", "simulate", "version", "view", "write_points",
]
