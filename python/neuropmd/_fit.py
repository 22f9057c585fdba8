"""A fit, watched: in a thread of its own, while the caller's thread waits for reports and for signals.

Python runs signal handlers in the main thread only, and between its own instructions. A fit that ran there would see
Ctrl-C when it is over. So the library works in another thread, the caller's thread sleeps on a queue, and whatever is
raised there (KeyboardInterrupt, a timeout of the user's, an error in a progress function) asks the fit to stop; it
keeps what it has, and the exception goes on when the model is in place.
"""
from __future__ import annotations

import contextlib
import importlib
import queue
import sys
import threading
import time
from ctypes import byref
from types import SimpleNamespace
from typing import Any, Callable, Optional, Union

from . import _header as h
from ._library import as_dict, failure, library

Progress = Union[None, bool, Callable[[SimpleNamespace], Any]]


def watched(function: Callable[..., int], options: Any, arguments: tuple,
            progress: Progress) -> tuple[Optional[h.npmd_model], Optional[BaseException]]:
    """Calls npmd_fit or npmd_select, whose last arguments are the model to be made and the error.

    The pointer to the model, None if there is none, and what is to be raised once it is in place.
    """
    show = _shown(progress)
    reports: queue.SimpleQueue = queue.SimpleQueue()
    answers: queue.SimpleQueue = queue.SimpleQueue()
    stop = threading.Event()
    raised: Optional[BaseException] = None
    error, model, status = h.npmd_error(), h.npmd_model(), [h.NPMD_OK]

    @h.npmd_progress
    def on_report(now: Any, user: Any) -> int:  # in a thread of the library's
        if stop.is_set() or show is None:
            return int(stop.is_set())
        reports.put(SimpleNamespace(**as_dict(now.contents)))
        return answers.get()

    def work() -> None:
        status[0] = function(*arguments, byref(model), byref(error))
        reports.put(None)

    library.npmd_options_watch(options, on_report, None)
    threading.Thread(target=work, name="neuropmd fit").start()
    while True:
        try:
            report = reports.get()
            if report is None:
                break
            if show is not None and not stop.is_set() and show(report):
                stop.set()
            answers.put(int(stop.is_set()))
        except BaseException as why:  # raised again by the caller
            raised = raised or why
            stop.set()
            answers.put(1)
    if hasattr(show, "close"):
        show.close()
    if status[0] != h.NPMD_OK and raised is None:
        raised = failure(status[0], error.text)
    return (model if status[0] == h.NPMD_OK else None), raised


def _shown(progress: Progress) -> Any:
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not True:
        raise TypeError(f"progress: {progress!r} was found where True, False or a function of one report was expected")
    return _Bar()


def _phase(now: SimpleNamespace) -> str:
    """What is being fitted: "field 2/4", "choosing"."""
    words = [now.part or ""]
    if now.members > 0:
        words.append(f"{now.member}/{now.members}")
    if now.attempt == 0:
        words.append("choosing")
    return " ".join(word for word in words if word) or "fit"


def _tqdm() -> Any:
    """A bar, in a notebook one of widgets; None: there is none that works."""
    for module in ("tqdm.auto", "tqdm"):
        try:
            return importlib.import_module(module).tqdm(unit="step")
        except Exception:  # what it raises where widgets are missing or do not suit it differs
            continue
    return None


class _Bar:
    """tqdm's, one that starts again with each phase; lines where there is none, or where it breaks, as in notebooks
    whose widgets are of another version: that must not take the fit with it."""

    def __init__(self) -> None:
        self.bar, self.lines = _tqdm(), _Lines()

    def __call__(self, now: SimpleNamespace) -> None:
        if self.bar is None:
            self.lines(now)
            return
        try:
            self._show(now)
        except Exception:
            self.bar = None

    def _show(self, now: SimpleNamespace) -> None:
        phase = _phase(now)
        if (phase, now.steps) != (self.bar.desc.rstrip(": "), self.bar.total):
            self.bar.reset(total=now.steps)
            self.bar.set_description(phase, refresh=False)
        if now.objective == now.objective:  # NaN: not computed
            self.bar.set_postfix(objective=f"{now.objective:.5g}", refresh=False)
        self.bar.update(now.step - self.bar.n)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            if self.bar is not None:
                self.bar.close()


class _Lines:
    """A line on stderr every few seconds."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, now: SimpleNamespace) -> None:
        if time.monotonic() - self.last >= 5.0 or now.step == now.steps:
            self.last = time.monotonic()
            print(f"{_phase(now)}: step {now.step}/{now.steps}, {now.seconds:.0f} s", file=sys.stderr)
