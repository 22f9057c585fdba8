"""include/neuropmd*.h in ctypes: the constants, structs and functions that are used here.

Names are those of the headers, and a test holds every one of them against what a compiler makes of these. The class of
an opaque object is a pointer to it: npmd_model is ``npmd_model *``, and POINTER(npmd_model) is ``npmd_model **``. What
the package leaves at NULL is a c_void_p.
"""
from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint,
                    c_uint64, c_void_p, sizeof)
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer

# ---- Constants

(NPMD_OK, NPMD_ERR_ARGUMENT, NPMD_ERR_SHAPE, NPMD_ERR_FORMAT, NPMD_ERR_NUMERIC, NPMD_ERR_FILE, NPMD_ERR_DEVICE,
 NPMD_ERR_MEMORY, NPMD_STOPPED) = range(9)
NPMD_COORDS_LATLON, NPMD_COORDS_DEGREES = 1, 2
NPMD_OPTION_NAME, NPMD_OPTION_VALUES, NPMD_OPTION_FALLBACK, NPMD_OPTION_HELP, NPMD_OPTION_GROUP = range(5)
NPMD_GRID_FINE, NPMD_GRID_AUTHORS = range(2)

# ---- Objects


class npmd_domain(c_void_p): ...
class npmd_points(c_void_p): ...
class npmd_options(c_void_p): ...
class npmd_model(c_void_p): ...
class npmd_truth(c_void_p): ...
class npmd_surface(c_void_p): ...


# ---- Structs


def _doubles(*names: str) -> list[tuple[str, type]]:
    return [(name, c_double) for name in names]


class npmd_error(Structure):
    """The one struct that never grows."""

    _fields_ = [("status", c_int), ("text", c_char * 512)]


class Sized(Structure):
    """Every other one begins with its size, by which a library of a later version knows how much of it there is."""

    _fields_ = [("size", c_size_t)]

    def __init__(self, **fields: Any):
        super().__init__(sizeof(self), **fields)


class npmd_report(Sized):
    _fields_ = [("doing", c_char_p), ("done", c_double), ("step", c_int64), ("steps", c_int64), ("attempt", c_int),
                ("member", c_int), ("members", c_int), ("part", c_char_p), ("logged", c_int),
                *_doubles("epoch", "seconds", "rate", "data", "integral", "penalty", "objective", "log_integral",
                          "nise", "ae", "ise", "ise_se", "snr_a", "snr_b", "snr_c"), ("line", c_int64)]


npmd_progress = CFUNCTYPE(c_int, POINTER(npmd_report), c_void_p)


class npmd_compute(Sized):
    _fields_ = [("threads", c_int), ("device", c_char_p), ("progress", npmd_progress), ("user", c_void_p)]


class npmd_surface_options(Sized):
    _fields_ = [("elements", c_int), ("max_frequency", c_char_p), ("cache", c_char_p), ("progress", npmd_progress),
                ("user", c_void_p)]


class npmd_fit_facts(Sized):
    _fields_ = [("n", c_size_t), ("tau", c_double), ("seed", c_uint64), ("steps", c_int64),
                *_doubles("seconds", "objective", "log_integral", "log_integral_se", "convex_optimum", "convex_gap",
                          "convex_gap_accuracy"),
                ("restarts", c_int), ("members", c_int), ("interrupted", c_int), ("stopped_by", c_char_p),
                ("kept_step", c_int64), ("resumed", c_int64), ("checkpoint_failure", c_char_p),
                ("working_bytes", c_size_t), ("twins", c_int64), ("estimator", c_char_p), ("knows_bias", c_int)]


class npmd_part(Sized):
    _fields_ = [("name", c_char_p), ("members", c_int), *_doubles("weight", "held_out_nll", "held_out_nll_se")]


class npmd_choice(Sized):
    _fields_ = [("criterion", c_char_p), ("training", c_size_t), ("held_out", c_size_t), ("rows", c_int),
                ("rivals", c_int), *_doubles("nll", "nll_se")]


class npmd_choice_row(Sized):
    _fields_ = [("stage", c_int), ("steps", c_int64),
                *_doubles("tau", "criterion", "criterion_se", "difference", "difference_se"),
                ("kept", c_int), ("settings", c_char_p)]


class npmd_rival(Sized):
    _fields_ = [("estimator", c_char_p), *_doubles("nll", "nll_se", "difference", "difference_se")]


class npmd_probability(Sized):
    _fields_ = [*_doubles("share", "probability", "se", "low", "high"), ("members", c_int)]


class npmd_score(Sized):
    _fields_ = [("n", c_size_t),
                *_doubles("log_integral", "log_integral_se", "nll", "nll_se", "ise_criterion", "ise_criterion_se",
                          "ise_criterion_relative", "training_rows")]


class npmd_comparison(Sized):
    _fields_ = [*_doubles("nise", "ae", "fr", "fr2", "kl", "nise_undivided", "nise_se", "ae_se", "fr_se", "fr2_se",
                          "kl_se"), ("points", c_size_t)]


class npmd_plot_request(Sized):
    _fields_ = [("model", POINTER(npmd_model)), ("name", POINTER(c_char_p)), ("models", c_int),
                ("file", c_void_p), ("files", c_int), ("truth", npmd_truth), ("data", npmd_points), ("kind", c_char_p),
                ("title", c_char_p), ("what", c_int), ("log_scale", c_int), ("level", POINTER(c_double)),
                ("levels", c_int), ("factors", c_uint), ("given", c_uint), ("at", npmd_points),
                ("range", POINTER(c_double)), ("ranges", c_int), ("coords", c_uint), ("grid", c_int),
                ("width_mm", c_double), ("dpi", c_double), ("seed", c_uint64), ("surfaces", c_void_p),
                ("how", POINTER(npmd_compute))]


class npmd_plot_facts(Sized):
    _fields_ = [("kind", c_char_p), ("panels", c_int), *_doubles("low", "high", "width_mm", "height_mm", "mass_error"),
                ("data", c_size_t)]


class npmd_view_request(Sized):
    _fields_ = [("title", c_char_p), ("name", c_char_p * 2), ("factors", c_uint), ("nodes", c_size_t),
                ("coords", c_uint), ("data", npmd_points), ("most_points", c_size_t), ("surface", npmd_surface * 2),
                ("sphere", npmd_surface * 2), ("accuracy", c_double), ("seed", c_uint64),
                ("how", POINTER(npmd_compute))]


class npmd_view_facts(Sized):
    _fields_ = [("factors", c_int), ("factor", c_int * 2), ("nodes", c_size_t * 2), ("points", c_size_t),
                ("points_shown", c_size_t), *_doubles("level_error", "mass", "sum_error"), ("compared", c_size_t),
                ("bytes", c_size_t)]


# ---- Functions

_array = ndpointer(np.float64, flags="C")  # checks the type and the order of an array

_how = POINTER(npmd_compute)

# Those that may fail: what they take before the npmd_error; they return an npmd_status.
FALLIBLE: dict[str, list[Any]] = {
    "npmd_build_describe": [POINTER(c_char_p)],
    "npmd_domain_parse_with": [c_char_p, POINTER(npmd_surface_options), POINTER(npmd_domain)],
    "npmd_domain_within": [npmd_domain, c_double, POINTER(npmd_domain)],
    "npmd_factors_parse": [c_char_p, npmd_domain, POINTER(c_uint)],
    "npmd_domain_part": [npmd_domain, c_uint, POINTER(npmd_domain)],
    "npmd_domain_uniform": [npmd_domain, _array, c_size_t, _array],
    "npmd_coords_parse": [c_char_p, POINTER(c_uint)],
    "npmd_points_read": [c_char_p, npmd_domain, c_uint, POINTER(npmd_points)],
    "npmd_points_from": [_array, c_size_t, c_size_t, npmd_domain, c_uint, POINTER(npmd_points)],
    "npmd_points_borrow": [c_void_p, c_int, c_size_t, c_size_t, npmd_domain, c_uint, POINTER(npmd_points)],
    "npmd_points_weigh_by": [npmd_points, _array, c_size_t],
    "npmd_points_rows": [npmd_points, c_uint, _array],
    "npmd_points_write": [c_char_p, npmd_domain, c_uint, _array, c_size_t],
    "npmd_options_set": [npmd_options, c_char_p, c_char_p],
    "npmd_fit": [npmd_domain, npmd_points, npmd_options, POINTER(npmd_model)],
    "npmd_select": [npmd_domain, npmd_points, npmd_options, POINTER(c_char_p), c_int, POINTER(npmd_model)],
    "npmd_save": [npmd_model, c_char_p],
    "npmd_load": [c_char_p, POINTER(npmd_model)],
    "npmd_model_pack": [npmd_model, POINTER(c_char_p), POINTER(c_size_t)],
    "npmd_model_unpack": [c_char_p, c_size_t, POINTER(npmd_model)],
    "npmd_model_facts": [npmd_model, POINTER(npmd_fit_facts)],
    "npmd_model_describe": [npmd_model, POINTER(c_char_p)],
    "npmd_model_part": [npmd_model, c_int, POINTER(npmd_part)],
    "npmd_model_choice": [npmd_model, POINTER(npmd_choice)],
    "npmd_model_choice_row": [npmd_model, c_int, POINTER(npmd_choice_row)],
    "npmd_model_rival": [npmd_model, c_int, POINTER(npmd_rival)],
    "npmd_what_parse": [c_char_p, POINTER(c_int)],
    "npmd_evaluate_at": [npmd_model, npmd_points, c_int, _how, _array],
    "npmd_sample": [npmd_model, c_uint64, c_size_t, _how, _array, c_void_p],
    "npmd_sample_given": [npmd_model, c_uint, npmd_points, c_uint64, c_size_t, _how, _array, c_void_p],
    "npmd_marginal_at": [npmd_model, c_uint, npmd_points, c_int, c_double, c_uint64, _how, _array, _array],
    "npmd_conditional_at": [npmd_model, c_uint, npmd_points, c_int, c_double, c_uint64, _how, _array, _array],
    "npmd_probability_near": [npmd_model, npmd_points, _array, c_double, c_uint64, _how, POINTER(npmd_probability)],
    "npmd_score_points": [npmd_model, npmd_points, c_uint64, _how, POINTER(npmd_score)],
    "npmd_truth_read": [c_char_p, POINTER(npmd_truth)],
    "npmd_truth_make": [c_char_p, c_uint64, POINTER(npmd_truth)],
    "npmd_truth_write": [npmd_truth, c_char_p],
    "npmd_truth_sample": [npmd_truth, c_uint64, c_size_t, _how, _array],
    "npmd_truth_log_density": [npmd_truth, _array, c_size_t, _how, _array],
    "npmd_truth_entropy": [npmd_truth, c_uint64, _how, POINTER(c_double), POINTER(c_double)],
    "npmd_compare": [npmd_model, npmd_truth, c_int, c_size_t, c_uint64, _how, POINTER(npmd_comparison)],
    "npmd_surface_read": [c_char_p, POINTER(npmd_surface)],
    "npmd_surface_eigen": [npmd_surface, c_int, c_int, _how, _array, _array, _array],
}

# All others: what they return, and what they take.
PLAIN: dict[str, tuple[Any, list[Any]]] = {
    "npmd_version": (c_char_p, []),
    "npmd_text_free": (None, [c_char_p]),
    "npmd_domain_free": (None, [npmd_domain]),
    "npmd_domain_text": (c_char_p, [npmd_domain]),
    "npmd_domain_factors": (c_int, [npmd_domain]),
    "npmd_domain_columns": (c_int, [npmd_domain]),
    "npmd_domain_dimension": (c_int, [npmd_domain]),
    "npmd_domain_volume": (c_double, [npmd_domain]),
    "npmd_points_columns": (c_int, [npmd_domain, c_uint]),
    "npmd_points_count": (c_size_t, [npmd_points]),
    "npmd_points_free": (None, [npmd_points]),
    "npmd_options_new": (npmd_options, []),
    "npmd_options_free": (None, [npmd_options]),
    "npmd_options_watch": (None, [npmd_options, npmd_progress, c_void_p]),
    "npmd_option_text": (c_char_p, [c_int, c_int]),
    "npmd_option_is_read": (c_int, [c_int, c_char_p]),
    "npmd_model_free": (None, [npmd_model]),
    "npmd_model_domain": (npmd_domain, [npmd_model]),
    "npmd_model_warning": (c_char_p, [npmd_model, c_int]),
    "npmd_model_parts": (c_int, [npmd_model]),
    "npmd_truth_domain": (npmd_domain, [npmd_truth]),
    "npmd_truth_free": (None, [npmd_truth]),
    "npmd_surface_free": (None, [npmd_surface]),
    "npmd_surface_vertices": (c_size_t, [npmd_surface]),
    "npmd_surface_faces": (c_size_t, [npmd_surface]),
    "npmd_surface_area": (c_double, [npmd_surface]),
    "npmd_surface_vertex": (None, [npmd_surface, c_size_t, c_void_p]),  # addresses: they are called for every vertex
    "npmd_surface_face": (None, [npmd_surface, c_size_t, c_void_p]),
    "npmd_surface_vertex_areas": (None, [npmd_surface, _array]),
}

# The same of libneuropmd-draw.
DRAW_FALLIBLE: dict[str, list[Any]] = {
    "npmd_plot": [POINTER(npmd_plot_request), c_char_p, POINTER(npmd_plot_facts)],
    "npmd_plot_what_parse": [c_char_p, POINTER(c_int)],
    "npmd_view": [npmd_model, POINTER(npmd_view_request), c_char_p, POINTER(npmd_view_facts)],
}
DRAW_PLAIN: dict[str, tuple[Any, list[Any]]] = {
    "npmd_plot_kind": (c_char_p, [c_int, POINTER(c_char_p)]),
}


def declare(library: Any, fallible: dict[str, list[Any]], plain: dict[str, tuple[Any, list[Any]]]) -> None:
    """Tells ctypes what the functions of a library take and return; AttributeError: it lacks one."""
    for name, takes in fallible.items():
        getattr(library, name).restype, getattr(library, name).argtypes = c_int, [*takes, POINTER(npmd_error)]
    for name, (gives, takes) in plain.items():
        getattr(library, name).restype, getattr(library, name).argtypes = gives, takes
