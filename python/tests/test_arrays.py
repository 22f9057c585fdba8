"""Densities against formulas that numpy computes, and arrays of every kind."""
import unittest
import warnings
from unittest import mock

import numpy as np

import neuropmd
from neuropmd import _domain
from support import angles, kernels, vectors

# The library sums kernels in single precision: their exponents, kappa (cos - 1) of two angles, reach -32 at kappa = 8
# and have an error of 32 x 2^-24, which is the relative error of each term of the sum.
CLOSE = 32 * 2.0**-24


class KernelFormulas(unittest.TestCase):
    """A KDE of known kappa is a sum that can be written down."""

    @classmethod
    def setUpClass(cls):
        cls.data, cls.x = angles(150, 2), angles(40, 2, seed=2)
        cls.model = neuropmd.KDE("S1^2", kappa=8.0).fit(cls.data)
        cls.truth = kernels(cls.x, cls.data, 8.0)

    def test_density(self):
        np.testing.assert_allclose(self.model.density(self.x), self.truth, rtol=CLOSE)
        np.testing.assert_allclose(self.model.log_density(self.x), np.log(self.truth), atol=CLOSE)
        np.testing.assert_array_equal(self.model.score_samples(self.x), self.model.log_density(self.x))
        self.assertEqual(self.model.score(self.x), self.model.score_samples(self.x).mean())

    def test_relative_and_intensity(self):
        np.testing.assert_allclose(self.model.relative(self.x), self.truth * 4 * np.pi**2, rtol=CLOSE)
        np.testing.assert_allclose(self.model.intensity(self.x), self.truth * 150, rtol=CLOSE)

    def test_weights_count_points(self):
        """Weights 1 and 2 are points given once and twice."""
        weights = np.where(np.arange(150) % 2, 1.0, 2.0)
        model = neuropmd.KDE("S1^2", kappa=8.0).fit(self.data, sample_weight=weights)
        truth = kernels(self.x, self.data, 8.0, weights)
        np.testing.assert_allclose(model.density(self.x), truth, rtol=CLOSE)
        np.testing.assert_allclose(model.intensity(self.x), truth * weights.sum(), rtol=CLOSE)

    def test_gradient_and_laplacian(self):
        """With shares p_i of the kernels in f: grad log f = sum p_i g_i, g_i = -kappa sin(x - x_i), and
        Lap log f = sum p_i (|g_i|^2 - kappa sum cos(x - x_i)) - |grad log f|^2. Shares err by CLOSE, what they multiply
        is at most kappa^2 x 2, and squares of the gradient double that."""
        away = self.x[:, None] - self.data[None]
        share = np.exp(8.0 * (np.cos(away) - 1.0).sum(axis=2))
        share /= share.sum(axis=1, keepdims=True)
        each = -8.0 * np.sin(away)
        gradient = np.einsum("ij,ijc->ic", share, each)
        second = (share * ((each**2).sum(axis=2) - 8.0 * np.cos(away).sum(axis=2))).sum(axis=1)
        np.testing.assert_allclose(self.model.gradient(self.x), gradient, atol=2 * 8 * CLOSE)
        second -= (gradient**2).sum(axis=1)
        np.testing.assert_allclose(self.model.laplacian(self.x), second, atol=4 * 8 * 8 * CLOSE)

    def test_marginal_and_conditional(self):
        """Kernels are products: the marginal is the sum of one factor's. The error that is stated is of the log."""
        one, error = self.model.marginal(self.x[:, 1:], 2, "density", return_error=True)
        truth = kernels(self.x[:, 1:], self.data[:, 1:], 8.0)
        np.testing.assert_allclose(one, truth, rtol=CLOSE)
        self.assertTrue((error < 1e-3).all())
        given = self.model.conditional(self.x, given=[2], what="density")
        np.testing.assert_allclose(given, self.truth / truth, rtol=2 * CLOSE)

    def test_probability(self):
        """Half of the volume: an arc of a quarter turn to either side of one angle, any value of the other."""
        found = self.model.probability([0.5, 0.0], [np.pi / 2, np.pi])
        grid = (np.arange(4096) + 0.5)[:, None] * np.pi / 4096 + 0.5 - np.pi / 2
        truth = kernels(grid, self.data[:, :1], 8.0).mean() * np.pi
        self.assertAlmostEqual(found["share"], 0.5, places=12)
        self.assertLess(abs(found["probability"] - truth), 1e-6 + 5 * found["se"])

    def test_sample(self):
        """The mean direction of draws is that of the density, within 5 standard errors of at most 1 / sqrt(n)."""
        n = 20000
        draws = self.model.sample(n, seed=3)
        shrink = np.i0(8.0)
        bessel1 = np.mean(np.cos(grid := np.arange(512) * 2 * np.pi / 512) * np.exp(8.0 * np.cos(grid)))  # I1(8)
        truth = np.exp(1j * self.data).mean(axis=0) * bessel1 / shrink
        self.assertTrue((abs(np.exp(1j * draws).mean(axis=0) - truth) < 5 / np.sqrt(n)).all())
        np.testing.assert_array_equal(draws, self.model.sample(n, seed=3))
        generator = np.random.default_rng(1)
        self.assertFalse(np.array_equal(self.model.sample(5, generator), self.model.sample(5, generator)))

    def test_sample_given(self):
        draws = self.model.sample(50, given=1, at=[[0.2], [0.4]])
        self.assertEqual(draws.shape, (100, 2))
        np.testing.assert_array_equal(draws[:, 0], np.repeat([0.2, 0.4], 50))

    def test_no_rows(self):
        none = np.empty((0, 2))
        self.assertEqual(self.model.density(none).shape, (0,))
        self.assertEqual(self.model.gradient(none).shape, (0, 2))
        self.assertEqual(self.model.sample(0).shape, (0, 2))


class KindsOfArrays(unittest.TestCase):
    def setUp(self):
        self.data = angles(100, 2)
        self.bytes = neuropmd.KDE("S1^2", kappa=4.0).fit(self.data).to_bytes()

    def same(self, X):
        self.assertEqual(neuropmd.KDE("S1^2", kappa=4.0).fit(X).to_bytes(), self.bytes)

    def test_orders_and_containers(self):
        frozen = self.data.copy()
        frozen.flags.writeable = False
        for X in (np.asfortranarray(self.data), np.repeat(self.data, 2, axis=0)[::2], self.data.tolist(), frozen,
                  self.data.astype(object), self.data.astype(">f8")):
            self.same(X)

    def test_data_frame(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there (Debian: python3-pandas)")
        self.same(pandas.DataFrame(self.data, columns=["phi", "psi"]))

    def test_borrowed_arrays_give_equal_bytes(self):
        with mock.patch.object(_domain, "LARGE", 0):
            self.same(self.data)
            rounded = self.data.astype(np.float32)
            single = neuropmd.KDE("S1^2", kappa=4.0).fit(rounded).to_bytes()
        self.assertEqual(single, neuropmd.KDE("S1^2", kappa=4.0).fit(rounded.astype(float)).to_bytes())

    def test_whole_turns_and_integers(self):
        self.same(np.mod(self.data, 2 * np.pi))  # the branch of an angle means nothing
        turned = neuropmd.KDE("S1").fit(np.array([[0], [1], [7]]))
        self.assertEqual(turned.n_features_in_, 1)

    def test_what_is_refused(self):
        fit = neuropmd.KDE("S1^2").fit
        for X, words in ((self.data[:, 0], "2D array"), (self.data[None], "3D array"), (self.data[:, :1], "1 column"),
                         (self.data + 1j, "Complex"), (self.data[:1], "1 sample"), (self.data[:0], "0 sample"),
                         (np.zeros((5, 2)), "distinct"), ([["a", "b"]] * 3, "convert"),
                         (self.data.astype("datetime64[s]"), "numbers")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                fit(X)
        broken = self.data.copy()
        broken[3, 1] = np.nan
        with self.assertRaisesRegex(ValueError, r"row 4: factor 2 \(S1\) is not finite \(NaN or inf\)"):
            fit(broken)
        with mock.patch.object(_domain, "LARGE", 0), self.assertRaisesRegex(ValueError, r"row 4: factor 2 \(S1\)"):
            fit(broken)
        with self.assertRaisesRegex(ValueError, "X has 3 features, but KDE is expecting 2"):
            neuropmd.KDE("S1^2", kappa=1).fit(self.data).density(np.zeros((1, 3)))

    def test_weights_that_are_refused(self):
        fit = neuropmd.KDE("S1^2", kappa=1).fit
        for weights, words in ((np.ones(99), "100 weights are needed"), (np.ones((100, 2)), "one number a point"),
                               (-np.ones(100), "negative"), (np.zeros(100), "add up to 0"),
                               (np.full(100, np.nan), "not finite")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                fit(self.data, sample_weight=weights)


class Coordinates(unittest.TestCase):
    def test_latitude_and_longitude(self):
        """The same points as unit vectors: equal up to single precision, as above."""
        x = vectors()
        latlon = np.degrees(np.column_stack([np.arcsin(x[:, 2]), np.arctan2(x[:, 1], x[:, 0])]))
        plain, model = neuropmd.KDE("S2", kappa=9.0).fit(x), neuropmd.KDE("S2", coords="latlon", kappa=9.0).fit(latlon)
        np.testing.assert_allclose(model.density(latlon), plain.density(x), rtol=CLOSE)
        self.assertEqual(model.sample(4).shape, (4, 2))
        self.assertEqual(model.n_features_in_, 2)
        draws, same = np.radians(model.sample(4)), neuropmd.from_bytes(model.to_bytes()).sample(4)
        np.testing.assert_allclose(np.sin(draws[:, 0]), same[:, 2], rtol=1e-12)
        np.testing.assert_allclose(np.cos(draws[:, 0]) * np.sin(draws[:, 1]), same[:, 1], rtol=0, atol=1e-14)

    def test_mixed(self):
        data = np.column_stack([vectors(), np.degrees(angles(100))])
        model = neuropmd.KDE("S2 x S1", coords="degrees", kappa=9.0).fit(data)
        self.assertEqual(model.marginal(data[:3, :3], 1).shape, (3,))
        self.assertEqual(model.marginal(data[:3, 3:], 2).shape, (3,))
        self.assertEqual(model.sample(2, given=1, at=data[:3, :3]).shape, (6, 4))

    def test_probability(self):
        """Radii are in degrees where coordinates are, whichever: the same ball in radians."""
        data = np.column_stack([vectors(), angles(100)])
        plain = neuropmd.KDE("S2 x S1", kappa=9.0).fit(data)
        latlon = np.degrees([np.arcsin(data[0, 2]), np.arctan2(data[0, 1], data[0, 0]), data[0, 3]])
        expected = plain.probability(data[0], [0.3, 0.5])["probability"]
        for coords, center in (("latlon,degrees", latlon), ("degrees", [*data[0, :3], latlon[2]]),
                               ("latlon", [*latlon[:2], data[0, 3]])):
            with self.subTest(coords):
                found = neuropmd.from_bytes(plain.to_bytes(), coords=coords).probability(center, np.degrees([0.3, 0.5]))
                self.assertAlmostEqual(found["probability"], expected, places=9)  # 1e-12 of the center, by its gradient

    def test_degrees_for_radians(self):
        """A model file does not keep the coordinates of its points: more than five turns are not taken in silence."""
        data = np.degrees(angles(100, 2)) % 360.0
        model = neuropmd.KDE("T2", coords="degrees", kappa=9.0).fit(data)
        again = neuropmd.from_bytes(model.to_bytes())
        for ask in (again.score_samples, again.score, lambda x: again.marginal(x[:, :1], 1),
                    lambda x: again.sample(1, given=1, at=x[:, :1])):
            with self.assertWarnsRegex(neuropmd.NeuropmdWarning, 'are they degrees.* coords="degrees"'):
                ask(data)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again.score_samples(np.radians(data))
            kept = neuropmd.from_bytes(model.to_bytes(), coords="degrees").score_samples(data)
        np.testing.assert_array_equal(kept, model.score_samples(data))

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "has no S2"):
            neuropmd.KDE("S1", coords="latlon").fit(angles())
        with self.assertRaisesRegex(ValueError, 'try coords="latlon"'):
            neuropmd.KDE("S2").fit(angles(10, 2))


class Domains(unittest.TestCase):
    def test_facts(self):
        domain = neuropmd.Domain("t2 x s2")
        self.assertEqual((domain.factors, domain.columns, domain.dimension), (3, 5, 4))
        self.assertAlmostEqual(domain.volume, (2 * np.pi) ** 2 * 4 * np.pi, places=10)
        self.assertEqual(neuropmd.Domain("S1^2"), neuropmd.Domain(neuropmd.Domain("S1^2")))
        self.assertEqual(domain.part("1,3").columns, 4)
        with self.assertRaisesRegex(ValueError, "numbers from 1 to 3"):
            domain.part(0)
        with self.assertRaises(ValueError):
            neuropmd.Domain("R2")
        with self.assertRaises(TypeError):
            neuropmd.Domain(3)

    def test_none_is_a_circle_a_column(self):
        self.assertEqual(neuropmd.KDE(kappa=1).fit(angles(10, 3)).domain_.text, "S1^3")

    def test_uniform(self):
        """Cells of equal area on the sphere: heights are uniform, mean 0 within 5 / sqrt(12 n) x 2."""
        x = neuropmd.Domain("S2").uniform(np.random.default_rng(1).random((4000, 2)))
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
        self.assertLess(abs(x[:, 2].mean()), 5 / np.sqrt(3 * 4000))

    def test_mesh(self):
        path = str(neuropmd_source() / "tests" / "fixtures" / "surface" / "bumpy.off")
        surface = neuropmd.Surface(path)
        self.assertAlmostEqual(surface.vertex_areas().sum(), surface.area, places=9)
        domain = neuropmd.Domain(f"mesh:{path}", max_frequency=2)
        self.assertAlmostEqual(domain.volume, surface.area, delta=1e-9 * surface.area)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = neuropmd.Series(domain, tau=1e-2, max_frequency=2).fit(surface.vertices)
        areas = surface.vertex_areas()  # a rule of one node a vertex
        self.assertAlmostEqual((model.density(surface.vertices) * areas).sum(), 1.0, delta=0.05)
        again = neuropmd.from_bytes(model.to_bytes())
        np.testing.assert_array_equal(again.density(surface.vertices), model.density(surface.vertices))
        values, functions = neuropmd.eigen(surface, 4)
        self.assertAlmostEqual(values[0], 0.0, places=8)
        np.testing.assert_allclose(functions[:, 0], surface.area**-0.5, rtol=1e-8)


def neuropmd_source():
    from support import SOURCE

    return SOURCE


if __name__ == "__main__":
    unittest.main()
