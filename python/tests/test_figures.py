"""Figures and pages: every field of a request reaches the library that draws, which may be missing."""
import os
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import neuropmd
from neuropmd import _library
from support import angles, figures_missing


class TheirLibrary(unittest.TestCase):
    def opened(self, folder):
        """What is opened for figures if the other library lies in this folder, and holds none."""
        alone = types.SimpleNamespace(_name=os.path.join(folder, _library._NAME))
        with mock.patch.object(_library, "library", alone), mock.patch.object(_library, "_open") as opens:
            _library.draw.__wrapped__()
        return opens.call_args[0][0]

    def test_beside_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / _library._DRAW).touch()
            self.assertEqual(self.opened(folder), os.path.join(folder, _library._DRAW))

    def test_missing(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ImportError, "libneuropmd-draw.* beside"):
            self.opened(folder)

    def test_of_the_system(self):
        self.assertEqual(self.opened(""), _library._DRAW)


@unittest.skipIf(figures_missing(), figures_missing())
class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.points, cls.truth = neuropmd.simulate("t2-authors", 200)
        cls.model = neuropmd.KDE("S1^2", kappa=8.0).fit(cls.points)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def plot(self, model, **more):
        path = os.path.join(self.folder.name, "figure.svg")
        return neuropmd.plot(model, path, **more), Path(path).read_text()

    def test_names_truth_data_and_range(self):
        found, text = self.plot([self.model, neuropmd.Uniform("S1^2").fit(self.points)], names=["first", "second"],
                                truth=self.truth, data=self.points, title="all of it", ranges=[0.0, 0.125], grid=32)
        self.assertEqual((found["panels"], found["data"], found["low"], found["high"]), (3, 200, 0.0, 0.125))
        for word in ("first", "second", "all of it"):
            self.assertIn(word, text)

    def test_levels(self):
        lengths = [len(self.plot(self.model, levels=levels, grid=32)[1]) for levels in ([], [50.0], [30.0, 50.0, 70.0])]
        self.assertEqual(lengths, sorted(set(lengths)))

    def test_what_kind_and_size(self):
        found, _ = self.plot(self.model, what="relative", log=True, kind="torus", width_mm=100.0, dpi=50.0, grid=32)
        self.assertEqual((found["kind"], round(found["width_mm"], 9)), ("torus", 100.0))
        plain, _ = self.plot(self.model, kind="torus", grid=32)
        self.assertAlmostEqual(found["high"] / plain["high"], 4 * np.pi**2, places=5)
        with self.assertRaisesRegex(ValueError, "relative"):
            self.plot(self.model, what="colourful")

    def test_conditional(self):
        """The curve's largest value is that of the conditional density on a grid."""
        found, _ = self.plot(self.model, given=2, at=[5.0])
        grid = np.column_stack([np.arange(2000) * 2 * np.pi / 2000, np.full(2000, 5.0)])
        most = self.model.conditional(grid, given=2, what="density").max()
        self.assertGreater(found["high"], 0.99 * most)

    def test_page(self):
        path = os.path.join(self.folder.name, "page.html")
        try:
            found = neuropmd.view(self.model, path, data=self.points, names=["phi", "psi"], title="torsions", nodes=64,
                                  most_points=100)
        except RuntimeError as why:  # built without three.js
            self.skipTest(str(why))
        self.assertEqual((found["factor"], found["points"], found["points_shown"]), ([1, 2], 200, 100))
        text = Path(path).read_text()
        for word in ("phi", "psi", "torsions"):
            self.assertIn(word, text)
        self.assertEqual(neuropmd.view(self.model, path, factors=2, nodes=32)["factor"], [2])


if __name__ == "__main__":
    unittest.main()
