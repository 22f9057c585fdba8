"""Data and truths that the tests share."""
import os
import unittest
from pathlib import Path

import numpy as np

from neuropmd import _library

SOURCE = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("NEUROPMD_LONG"))
long_test = unittest.skipUnless(LONG, "long; NEUROPMD_LONG=1 runs it")


def figures_missing():
    """Why there are no figures in this build; "": there are."""
    try:
        return _library.draw() and ""
    except ImportError as why:
        return str(why)


def angles(n=200, columns=1, seed=1):
    return np.random.default_rng(seed).vonmises(0.5, 2.0, (n, columns))


def vectors(n=100, seed=1):
    x = np.random.default_rng(seed).normal(size=(n, 3)) + [0.0, 0.0, 2.0]
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def kernels(x, data, kappa, weights=None):
    """The density of von Mises kernels on S1^k, and its parts: (rows of x, rows of data)."""
    each = np.exp(kappa * (np.cos(x[:, None] - data[None]) - 1.0)) / (2.0 * np.pi * np.i0(kappa) * np.exp(-kappa))
    return np.average(np.prod(each, axis=2), axis=1, weights=weights)
