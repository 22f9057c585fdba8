"""Every example in a docstring runs, and every public name has one."""
import doctest
import importlib
import inspect
import pkgutil
import unittest
import warnings

import neuropmd
from support import figures_missing


def load_tests(loader, tests, pattern):
    quiet = dict(setUp=lambda _: warnings.simplefilter("ignore", neuropmd.NeuropmdWarning))
    names = [module.name for module in pkgutil.iter_modules(neuropmd.__path__)]
    for module in [neuropmd, *(importlib.import_module(f"neuropmd.{name}") for name in names)]:
        if module is neuropmd._figures and figures_missing():
            continue
        if ">>>" in inspect.getsource(module):
            tests.addTests(doctest.DocTestSuite(module, **quiet))
    return tests


class Examples(unittest.TestCase):
    def test_each_has_one(self):
        without = ("Density", "Estimator", "Model", "NeuropmdWarning", "NotFittedError")  # not made by a user
        for name in set(neuropmd.__all__) - set(without):
            self.assertIn(">>>", getattr(neuropmd, name).__doc__ or "", name)
        for name, method in inspect.getmembers(neuropmd.Field, inspect.isfunction):
            if not name.startswith("_"):
                self.assertIn(">>>", method.__doc__ or "", name)


if __name__ == "__main__":
    unittest.main()
