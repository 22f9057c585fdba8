"""scikit-learn: its own checks of estimators, clones, grid search, pipelines."""
import functools
import pickle
import unittest
import warnings

import numpy as np

import neuropmd
from support import angles, long_test

try:
    import sklearn
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sklearn = None


def checks(estimator):
    """scikit-learn's checks for an estimator, with their names; the way to ask for them changed."""
    try:
        pairs = check_estimator(estimator, generate_only=True)
    except TypeError:
        from sklearn.utils.estimator_checks import estimator_checks_generator

        pairs = estimator_checks_generator(estimator)
    for own, check in pairs:
        yield (check.func if isinstance(check, functools.partial) else check).__name__, own, check


@unittest.skipUnless(sklearn, "scikit-learn is not there (Debian: python3-sklearn)")
class Sklearn(unittest.TestCase):
    def pass_all(self, estimator, but=()):
        passed = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, own, check in checks(estimator):
                if name in but:
                    continue
                with self.subTest(name):
                    check(own)
                    passed += 1
        without = f", without {', '.join(but)}" if but else ""
        print(f"\nscikit-learn {sklearn.__version__}: {passed} checks pass of {estimator!r}{without}")

    def test_checks_of_kernels(self):
        self.pass_all(neuropmd.KDE(kappa=2.0))

    def test_checks_of_squares(self):
        self.pass_all(neuropmd.PSNF(width=4, steps=5))

    def test_checks_of_the_uniform_density(self):
        self.pass_all(neuropmd.Uniform())

    @long_test
    def test_checks_of_the_field(self):
        """Options beyond the signature, here to be quick, are attributes that it does not name."""
        self.pass_all(neuropmd.Field(tau=1e-4, steps=5, width=4, q1=64, q2=32, accuracy=1, centres=8),
                      but=["check_no_attributes_set_in_init"])

    @long_test
    def test_checks_of_the_series(self):
        """The series on ten circles that check_dtype_object asks for is too large, and says so."""
        self.pass_all(neuropmd.Series(tau=1e-2, max_frequency=1), but=["check_dtype_object", "check_estimators_dtypes"])

    def test_clone(self):
        model = neuropmd.Field(neuropmd.Domain("S1"), tau=1e-3, q1=64)
        again = clone(model)
        self.assertEqual(again.get_params(), model.get_params())
        self.assertFalse(hasattr(clone(neuropmd.KDE("S1", kappa=1).fit(angles(10))), "model_"))
        with self.assertRaises(NotFittedError):
            again.density([[0.0]])

    def test_grid_search_over_tau(self):
        """Far too smooth loses: at tau = 100 the density is all but uniform."""
        X = angles(200)
        search = GridSearchCV(neuropmd.Series("S1", max_frequency=6), {"tau": [1e-2, 100.0]}, cv=KFold(3)).fit(X)
        self.assertEqual(search.best_params_, {"tau": 1e-2})
        self.assertAlmostEqual(search.score(X), search.best_estimator_.score(X))
        best = search.best_estimator_.fit(X).to_bytes()
        self.assertEqual(best, neuropmd.Series("S1", max_frequency=6, tau=1e-2).fit(X).to_bytes())

    def test_options_beyond_the_signature(self):
        search = GridSearchCV(neuropmd.KDE("S1"), {"kappa": [0.1, 5.0], "combine": ["log"]}, cv=2).fit(angles(50))
        self.assertEqual(search.best_params_["kappa"], 5.0)

    def test_pipeline(self):
        steps = [("radians", FunctionTransformer(np.radians)), ("density", neuropmd.KDE("S1", kappa=4.0))]
        pipe = Pipeline(steps).fit(np.degrees(angles(60)), density__sample_weight=np.ones(60))
        x = angles(5, seed=2)
        np.testing.assert_allclose(pipe.score_samples(np.degrees(x)), pipe[-1].score_samples(x), rtol=1e-5)
        again = pickle.loads(pickle.dumps(pipe))
        np.testing.assert_array_equal(again.score_samples(np.degrees(x)), pipe.score_samples(np.degrees(x)))

    @long_test
    def test_other_processes(self):
        scores = [cross_val_score(neuropmd.KDE("S1", kappa=4.0), angles(60), cv=3, n_jobs=jobs) for jobs in (1, 2)]
        np.testing.assert_array_equal(*scores)


if __name__ == "__main__":
    unittest.main()
