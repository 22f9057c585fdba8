"""Threads, interrupts, progress and memory over time."""
import gc
import io
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import types
import unittest
from contextlib import redirect_stderr
from unittest import mock

import numpy as np

import neuropmd
from support import angles, long_test

# Half a minute of steps, if nobody stops it.
ENDLESS = dict(tau=1e-3, steps=10**6, width=32, q1=512, q2=128, batch=64, threads=1)


class Stops(Exception):
    pass


class Interrupts(unittest.TestCase):
    def interrupted(self, model, seconds, kind, act, **more):
        """Fits, acts after some seconds, and says how long it took from then on."""
        acted = []
        timer = threading.Timer(seconds, lambda: (acted.append(time.monotonic()), act()))
        timer.start()
        with self.assertRaises(kind):
            model.fit(angles(100), **more)
        timer.join()
        return time.monotonic() - acted[0]

    def usable(self, model):
        self.assertTrue(model.interrupted_)
        grid = np.arange(512)[:, None] * 2 * np.pi / 512
        self.assertAlmostEqual(model.density(grid).mean() * 2 * np.pi, 1.0, places=3)
        self.assertGreater(model.facts_["steps"], 0)

    def test_ctrl_c_keeps_the_model(self):
        """The library asks some times a second; a busy machine may take its time."""
        model = neuropmd.Field("S1", **ENDLESS)
        took = self.interrupted(model, 0.5, KeyboardInterrupt, lambda: os.kill(os.getpid(), signal.SIGINT))
        self.assertLess(took, 10.0)
        self.usable(model)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_while_members_are_fitted(self):
        """Members are fitted side by side, and their reports come from threads that are not Python's."""
        model = neuropmd.Field("S1", members=2, **{**ENDLESS, "threads": 2})
        self.interrupted(model, 0.5, KeyboardInterrupt, lambda: os.kill(os.getpid(), signal.SIGINT))
        self.assertTrue(model.interrupted_)

    def test_a_timeout_of_the_user(self):
        def ring(*_):
            raise Stops

        before = signal.signal(signal.SIGALRM, ring)
        try:
            model = neuropmd.Field("S1", **ENDLESS)
            self.interrupted(model, 0.3, Stops, lambda: signal.alarm(1))
            self.usable(model)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_checkpoint_instead_of_a_model(self):
        """With a checkpoint the library keeps the state there; fit again goes on from it."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fit.ck")
            model = neuropmd.Field("S1", checkpoint=path, **ENDLESS)
            self.interrupted(model, 0.5, KeyboardInterrupt, lambda: os.kill(os.getpid(), signal.SIGINT))
            self.assertFalse(hasattr(model, "model_"))
            self.assertTrue(os.path.exists(path))

    def test_progress_function(self):
        seen, caller = [], threading.get_ident()

        def look(now):
            self.assertEqual(threading.get_ident(), caller)
            seen.append(now.step)
            return now.step >= 100

        model = neuropmd.Field("S1", log_every=10, **ENDLESS).fit(angles(100), progress=look)
        self.assertTrue(model.interrupted_)
        self.assertEqual(seen, sorted(seen))
        self.assertLess(model.facts_["steps"], 200)

    def test_error_in_a_progress_function(self):
        def broken(now):
            raise Stops

        model = neuropmd.Field("S1", **ENDLESS)
        with self.assertRaises(Stops):
            model.fit(angles(100), progress=broken)
        self.assertTrue(model.interrupted_)

    def test_shown_progress(self):
        said = io.StringIO()
        with redirect_stderr(said):
            neuropmd.Field("S1", tau=1e-3, steps=20, width=4).fit(angles(50), progress=True)
        self.assertIn("20/20", said.getvalue())
        with self.assertRaises(TypeError):
            neuropmd.KDE("S1").fit(angles(50), progress="yes")

    def test_a_bar_that_breaks(self):
        """tqdm in a notebook raises when it is made, or later, where its widgets are missing or too new."""
        class Broken:
            desc, total = "", None

            def __init__(self, unit, when="made"):
                if when == "made":
                    raise ImportError("IProgress not found")

            def reset(self, total):
                raise AttributeError("layout")

        later = types.SimpleNamespace(tqdm=lambda unit: Broken(unit, "later"))
        for modules in ({"tqdm.auto": types.SimpleNamespace(tqdm=Broken), "tqdm": None}, {"tqdm.auto": later}):
            said = io.StringIO()
            with self.subTest(modules), mock.patch.dict(sys.modules, modules), redirect_stderr(said):
                model = neuropmd.Field("S1", tau=1e-3, steps=20, width=4, log_every=5).fit(angles(50), progress=True)
            self.assertFalse(model.interrupted_)
            self.assertIn("20/20", said.getvalue())


class Threads(unittest.TestCase):
    def test_another_thread_runs(self):
        """While a fit runs in one thread, another counts. If the lock were held, it would stand still for all of it:
        the longest pause is held against a quarter of the fit, which is long beside the 5 ms of Python's own switching.
        """
        model, ticks = neuropmd.Field("S1", **{**ENDLESS, "steps": 3000}), [time.monotonic()]
        thread = threading.Thread(target=model.fit, args=(angles(100),))
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
            ticks.append(time.monotonic())
        thread.join()
        pause, took = float(np.diff(ticks).max()), ticks[-1] - ticks[0]
        print(f"\na fit of {took:.2f} s; another thread ran {len(ticks)} times, its longest pause {pause * 1e3:.0f} ms")
        self.assertFalse(model.interrupted_)
        self.assertLess(pause, took / 4)

    def test_fits_side_by_side_are_equal(self):
        models = [neuropmd.Field("S1", tau=1e-3, steps=50, width=8) for _ in range(4)]
        threads = [threading.Thread(target=m.fit, args=(angles(60),)) for m in models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({m.to_bytes() for m in models}), 1)

    def test_threads_do_not_change_the_answer(self):
        one, two = (neuropmd.Series("S1^2", tau=1e-3, max_frequency=3, threads=t).fit(angles(60, 2)) for t in (1, 2))
        self.assertEqual(one.to_bytes(), two.to_bytes())


    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_forked_child_does_not_hang(self):
        """OpenMP's threads do not survive a fork: the child must not wait for them."""
        X = angles(60, 2)
        model = neuropmd.Series("S1^2", tau=1e-3, max_frequency=3, threads=2).fit(X)
        expected = model.set_params(threads=None).score(X)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertEqual(pool.apply_async(refit, (model, X)).get(timeout=60), expected)
            model.set_params(threads=2)  # which it cannot have: a sentence, and neither a hang nor an abort
            with self.assertRaisesRegex(ValueError, "made by fork"):
                pool.apply_async(refit, (model, X)).get(timeout=60)

    def test_numbers_of_threads(self):
        X = angles(60, 2)
        model = neuropmd.KDE("S1^2", kappa=3.0).fit(X)
        for threads in (-1, 100_000, 2**40):
            model.threads = threads
            for ask in (model.score, model.fit):
                with self.assertRaisesRegex(ValueError, "outside 0"):
                    ask(X)


def refit(model, X):
    return model.fit(X).score(X)


class Leaks(unittest.TestCase):
    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_no_leak_over_100_fits(self):
        """Points of 0.4 MB a fit: of 100 leaks of any one array 40 MB would remain. Pools of the C library and of
        threads settle within the first fits; 16 MB are left to them."""
        X = np.random.default_rng(1).vonmises(0.0, 1.0, (25_000, 2))
        x = X[:10]

        def once(i):
            model = neuropmd.Uniform("S1^2").fit(X, sample_weight=np.ones(len(X)))
            model.density(x), model.info(), neuropmd.from_bytes(model.to_bytes())
            if i % 20 == 0:  # it looks for a maximum first, which takes time
                model.sample(3)
            try:
                neuropmd.KDE("S1^2", kappa=-1.0).fit(x)
            except ValueError:
                pass

        for i in range(5):
            once(i)
        gc.collect()
        before = resident()
        for i in range(100):
            once(i)
        gc.collect()
        grown = resident() - before
        print(f"\nresident memory grew by {grown / 1e6:.1f} MB over 100 fits")
        self.assertLess(grown, 16e6)

    @long_test
    def test_no_leak_of_the_field(self):
        model = neuropmd.Field("S1^2", tau=1e-3, steps=20, width=16)
        for _ in range(5):
            model.fit(angles(200, 2))
        before = resident()
        for _ in range(100):
            model.fit(angles(200, 2))
        gc.collect()
        print(f"\nfield: resident memory grew by {(resident() - before) / 1e6:.1f} MB over 100 fits")
        self.assertLess(resident() - before, 16e6)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    unittest.main()
