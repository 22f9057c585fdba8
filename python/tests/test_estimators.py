"""Parameters, options, failures, files and pickles."""
import copy
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

import neuropmd
from neuropmd import _library
from neuropmd._estimators import CLASSES
from support import SOURCE, angles

warnings.simplefilter("error", neuropmd.NeuropmdWarning)


def small(cls, **more):
    """Fast settings of each estimator."""
    own = {"field": dict(tau=1e-3, steps=20, width=8), "series": dict(tau=1e-3, max_frequency=3),
           "kde": dict(kappa=5.0), "psnf": dict(width=4, steps=10), "relu": dict(width=4, steps=5, depth=2),
           "uniform": {}, "stack": dict(tau=1e-3, steps=10, width=4, members=1, max_frequency=3)}
    own["auto"] = own["stack"]
    return cls("S1", **{**own[cls._kind], **more})


def fitted(estimator, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", neuropmd.NeuropmdWarning)  # a relu network stops early, and says so
        return estimator.fit(X, **more)


class Own(neuropmd.KDE):
    """A class with parameters of its own, as users make them."""

    def __init__(self, kappa=3.0):
        super().__init__("S1^2", kappa=kappa, seed=7)


class Refused(unittest.TestCase):
    """What would else be taken in silence for something that it is not."""

    def test_classes_of_users(self):
        mine = Own(5.0).fit(angles(50, 2))
        options = mine.info()["options"]
        self.assertEqual((mine.get_params(), options["kappa"], options["seed"]), ({"kappa": 5.0}, [5, 5], 7))

    def test_masks_weights_and_zeros(self):
        x = angles(20, 2)
        model = neuropmd.KDE("S1^2", kappa=5.0).fit(x)
        for wrong in (lambda: model.fit(np.ma.array(x, mask=np.eye(20, 2) > 0)),
                      lambda: model.score(x, sample_weight=-np.ones(20)),
                      lambda: model.score(x, sample_weight=np.zeros(20)),
                      lambda: model.score(x, sample_weight=np.ones(3)),
                      lambda: model.save("a\0b"), lambda: neuropmd.Domain("S1\0x"),
                      lambda: neuropmd.plot(model, "a.png", given=1), lambda: neuropmd.plot(model, "a.png", at=[1.0]),
                      lambda: neuropmd.plot(model, "a.png", dpi=-1), lambda: neuropmd.plot(model, "a.png", names="a"),
                      lambda: neuropmd.view(model, "a.html", names=["a", "b", "c"]),
                      lambda: neuropmd.select(model, x, {"kappa": "35"})):
            self.assertRaises(ValueError, wrong)

    def test_equal_domains(self):
        self.assertEqual(neuropmd.Domain("T2"), neuropmd.Domain("S1^2"))
        self.assertEqual(neuropmd.Domain("T2"), neuropmd.KDE("T2", kappa=5.0).fit(angles(20, 2)).domain_)

    def test_a_loaded_model_of_a_mesh_is_pickled(self):
        mesh = str(SOURCE / "tests/fixtures/surface/bumpy.off")
        try:
            domain = neuropmd.Domain(f"mesh:{mesh}", max_frequency=2)
        except RuntimeError as why:  # built without the solver of eigenpairs
            self.skipTest(str(why))
        vertices = neuropmd.Surface(mesh).vertices
        model = neuropmd.Series(domain, tau=1e-2, max_frequency=2).fit(vertices)
        again = pickle.loads(pickle.dumps(neuropmd.from_bytes(model.to_bytes())))
        self.assertTrue(np.array_equal(again.score_samples(vertices), model.score_samples(vertices)))


class Parameters(unittest.TestCase):
    def test_signatures_name_options_that_are_read(self):
        for cls in CLASSES.values():
            for name in cls._signature():
                if name not in ("domain", "coords"):
                    self.assertIn(cls._kind, neuropmd.options()[name]["estimators"], (cls, name))

    def test_options_and_methods_do_not_clash(self):
        self.assertEqual(set(neuropmd.options()) & set(dir(neuropmd.Estimator)), set())

    def test_any_option_is_a_keyword(self):
        model = neuropmd.Field("S1", q1=64, layer_rates=False)
        self.assertEqual(model.get_params()["q1"], 64)
        again = neuropmd.Field(**model.get_params())
        self.assertEqual(repr(again), repr(model))
        self.assertEqual(again.set_params(q2=32).q2, 32)
        self.assertIs(copy.deepcopy(again).layer_rates, False)

    def test_unknown_ones(self):
        with self.assertRaisesRegex(TypeError, "did you mean 'max_frequency'"):
            neuropmd.Field("S1", max_frequencies=3)
        with self.assertRaisesRegex(ValueError, "Field has no parameter 'estimator'"):
            neuropmd.Field().set_params(estimator="kde")

    def test_values_reach_the_library(self):
        model = neuropmd.Series("S1^2", max_frequency=(2, 3), tau=np.float64(1e-3), seed=2**63).fit(angles(50, 2))
        options = model.info()["options"]
        self.assertEqual(options["max-frequency"], [2, 3])
        self.assertEqual(options["seed"], str(2**63))
        self.assertEqual(model.tau_, 1e-3)

    def test_preset_comes_first(self):
        options = neuropmd.Field("S1", steps=7, preset="quick", tau=1e-3, width=4).fit(angles(50)).info()["options"]
        self.assertEqual((options["steps"], options["preset"]), (7, "quick"))

    def test_errors_speak_python(self):
        for params, words in (({"tau": "much"}, 'tau: "much" was found where a number was expected'),
                              ({"max_frequency": -1}, "max_frequency: -1 lies outside 0 .. 1024"),
                              ({"spectrum_law": "flat"}, "spectrum_law: .* one of power, uniform, ridge")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                neuropmd.Field("S1", **params).fit(angles())

    def test_options_in_sentences(self):
        said = "lower `max-frequency`, or use `skip` off; `coords` latlon takes `q1` as it is"
        self.assertEqual(_library.python_words(said),
                         'lower max_frequency, or use skip=False; coords="latlon" takes q1 as it is')

    def test_warnings(self):
        with self.assertWarnsRegex(neuropmd.NeuropmdWarning, "does not use width"):
            model = neuropmd.KDE("S1", width=3, kappa=1).fit(angles())
        self.assertEqual(len(model.warnings_), 1)


class Failures(unittest.TestCase):
    def test_not_fitted(self):
        for ask in (lambda m: m.density([[0.0]]), lambda m: m.sample(1), lambda m: m.save("x"), lambda m: m.info(),
                    lambda m: m.marginal([[0.0]], 1), lambda m: m.scores([[0.0]])):
            with self.assertRaisesRegex(ValueError, "not fitted"):
                ask(neuropmd.KDE("S1"))

    def test_files(self):
        with self.assertRaisesRegex(FileNotFoundError, "nowhere.safetensors"):
            neuropmd.load("nowhere.safetensors")
        with self.assertRaises(OSError):
            neuropmd.Uniform("S1").fit(angles()).save("/nowhere/model.safetensors")
        with tempfile.NamedTemporaryFile() as file:
            with self.assertRaisesRegex(ValueError, "is empty"):
                neuropmd.load(file.name)
        with self.assertRaisesRegex(ValueError, "the model in memory"):
            neuropmd.from_bytes(b"no model at all")

    def test_device(self):
        if neuropmd.build()["cuda"]:
            self.skipTest("this library knows CUDA")
        with self.assertRaisesRegex(RuntimeError, "CUDA"):
            small(neuropmd.Field, device="cuda").fit(angles())

    def test_draws(self):
        model = neuropmd.Uniform("S1").fit(angles())
        for n, seed, kind in ((-1, 1, ValueError), (1.5, 1, ValueError), (1, -1, ValueError), (1, 0.5, TypeError)):
            with self.assertRaises(kind):
                model.sample(n, seed)
        with self.assertRaisesRegex(ValueError, "both are needed"):
            model.sample(1, given=1)

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_memory(self):
        """What does not fit into a limited address space is a MemoryError with the library's sentence."""
        code = """if True:
            import resource, numpy as np, neuropmd
            model = neuropmd.Field("S2^2", tau=1e-3, features=65536, width=4096, depth=8, steps=1, threads=1)
            X = np.tile(np.eye(3), (4, 2)) + np.arange(12)[:, None] * 1e-5
            most = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (256 << 20)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            try:
                model.fit(X)
            except MemoryError as why:
                print("MemoryError:", why)
        """
        path = os.pathsep.join(p for p in sys.path if p)
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"})
        self.assertRegex(out.stdout, "MemoryError: .*memory", out.stderr)


class Files(unittest.TestCase):
    def test_every_class_is_saved_and_loaded(self):
        x = angles(20, seed=3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            for cls in CLASSES.values():
                with self.subTest(cls.__name__):
                    model = fitted(small(cls), angles(60))
                    model.save(path)
                    again = neuropmd.load(path)
                    # what was chosen is one of the others
                    self.assertIs(type(again), CLASSES[model.facts_["estimator"]])
                    np.testing.assert_array_equal(again.log_density(x), model.log_density(x))
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), model.to_bytes())
                    # Its parameters are those of the fit: once more, and the same bytes. The parts of a stack choose
                    # sizes of their own where none are given.
                    if cls not in (neuropmd.Stack, neuropmd.Auto):
                        self.assertEqual(fitted(again, angles(60)).to_bytes(), model.to_bytes())

    def test_pickle(self):
        x = angles(20, seed=3)
        model = fitted(small(neuropmd.Field), angles(60))
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(again.to_bytes(), model.to_bytes())
        self.assertEqual(pickle.dumps(again), pickle.dumps(pickle.loads(pickle.dumps(again))))
        np.testing.assert_array_equal(again.log_density(x), model.log_density(x))
        self.assertEqual(again.get_params(), model.get_params())
        self.assertEqual(again.domain_, model.domain_)
        self.assertEqual(copy.deepcopy(model).to_bytes(), model.to_bytes())
        self.assertEqual(pickle.loads(pickle.dumps(neuropmd.KDE("S1"))).domain, "S1")
        self.assertEqual(pickle.loads(pickle.dumps(neuropmd.Domain("S2"))), neuropmd.Domain("S2"))

    def test_points(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("points.csv", "points.npy"):
                path = os.path.join(folder, name)
                neuropmd.write_points(path, "S1^2", angles(10, 2), coords="degrees")
                found = neuropmd.read_points(path, "S1^2", coords="degrees")
                np.testing.assert_allclose(found, angles(10, 2) % (2 * np.pi), rtol=1e-14)
            with self.assertRaises(FileNotFoundError):
                neuropmd.read_points(os.path.join(folder, "none.csv"), "S1")

    def test_the_program_gives_equal_bytes(self):
        program = os.path.join(os.path.dirname(_library.library._name), "neuropmd")
        if not os.access(program, os.X_OK):
            self.skipTest("the program is not beside the library")
        with tempfile.TemporaryDirectory() as folder:
            data, out = os.path.join(folder, "x.npy"), os.path.join(folder, "m.safetensors")
            np.save(data, angles(80))
            subprocess.run([program, "fit", "--domain", "S1", "--data", data, "--out", out, "--tau", "1e-3",
                            "--steps", "30", "--width", "8", "--quiet"], check=True)
            same = neuropmd.Field("S1", tau=1e-3, steps=30, width=8).fit(angles(80))
            with open(out, "rb") as file:
                self.assertEqual(file.read(), same.to_bytes())


class Truths(unittest.TestCase):
    def test_simulate_and_evaluate(self):
        points, truth = neuropmd.simulate("t2-authors", 400, seed=5)
        np.testing.assert_array_equal(points, truth.sample(400, seed=5))
        grid = np.stack(np.meshgrid(*[np.arange(64) * 2 * np.pi / 64] * 2), axis=-1).reshape(-1, 2)
        self.assertAlmostEqual(np.exp(truth.log_density(grid)).mean() * 4 * np.pi**2, 1.0, places=5)
        found = neuropmd.evaluate(neuropmd.Uniform("S1^2").fit(points), truth)
        # Of the uniform density 1/V: nise = int (f - 1/V)^2 / int f^2 = 1 - 1 / (V int f^2).
        second = (np.exp(2 * truth.log_density(grid))).mean() * (4 * np.pi**2) ** 2
        self.assertAlmostEqual(found["nise"], 1 - 1 / second, places=4)
        with self.assertRaises(FileNotFoundError):
            neuropmd.Truth("no-such-truth.json")

    def test_select(self):
        model = neuropmd.select(neuropmd.Series("S1", tau=1e-3), angles(300), {"max_frequency": [2, 4]})
        self.assertEqual([row["settings"] for row in model.choice_], ["max-frequency=2", "max-frequency=4"])
        best = min(model.choice_, key=lambda row: row["criterion"])
        self.assertEqual(best["settings"], f"max-frequency={model.info()['options']['max-frequency'][0]}")
        with self.assertRaisesRegex(ValueError, "no parameter 'max_freq'"):
            neuropmd.select(neuropmd.Series("S1"), angles(10), {"max_freq": [1]})


if __name__ == "__main__":
    unittest.main()
