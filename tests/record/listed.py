"""listed.py - what may differ between a recording and the program of today, and why. No rule: nothing may.

A rule is met where it changes what is compared; record.py then says `equal but for what is listed` and names the rule.
It says, too, which rules were met nowhere: they can go."""

import copy
import re
from typing import Callable, NamedTuple, Optional, Sequence


class Rule(NamedTuple):
    name: str  # a few words, shown beside each run that differs by it
    why: str  # a sentence: what changed, and why that is right
    where: str = "*"  # shell pattern of RUN/FILE, as in "kde-*/m.safetensors" or "*/*.stdout"
    keys: Sequence[str] = ()  # keys of JSON (outputs, logs, facts of models), at any depth: removed from both sides
    arrays: Sequence[str] = ()  # shell patterns of arrays of a .safetensors file: removed from both sides
    lines: Optional[str] = None  # regular expression: lines of text that it is found in are removed from both sides
    absent: bool = False  # the file may be there on one side alone
    moved: bool = False  # a result moved on purpose: what the file holds is not compared
    # From what was recorded to what is expected instead; must return a new value where it changes something. It gets
    #   .safetensors        {"facts": {...}, "arrays": {name: {"dtype": ..., "shape": [...], "bytes": b"..."}}, ...}
    #   JSON, JSON lines    a list of values, one a line
    #   .npy                {"dtype": ..., "shape": [...], "bytes": b"..."}
    #   other text          a str; anything else: bytes
    # and the order of the keys of an object counts.
    change: Optional[Callable] = None


# ---- From 0.1 to 0.2 ----------------------------------------------------------------------------------------------

PARTS = {"kernels, one width": "kde fixed", "kernels, widths by distance": "kde adaptive",
         "kernels, several widths": "kde mixture"}


def each_fit(value, change):
    """A copy with change(description) made in every object that describes a fit: a model, its parts, their parts."""
    value = copy.deepcopy(value)

    def walk(item):
        if isinstance(item, dict):
            if isinstance(item.get("options"), dict):
                change(item)
            for inner in item.values():
                walk(inner)
        elif isinstance(item, list):
            for inner in item:
                walk(inner)

    walk(value)
    return value


def dimension(domain):
    """Of "S1^2 x S2": 4."""
    total = 0
    for factor in domain.split(" x "):
        name, _, power = factor.partition("^")
        total += (1 if name == "S1" else 2) * int(power or 1)
    return total


def decay_of_coordinates(value):
    """A decay of 60 stood for the coordinates alone; now the decay is the usual one."""

    def change(fit):
        if fit["options"].get("spectrum-decay") == 60.0:
            fit["options"]["spectrum-decay"] = dimension(fit["domain"]) / 2 + 1

    return each_fit(value, change)


def share_of_kernels(value):
    """What kernels of several widths held out was in no file."""

    def change(fit):
        options = fit["options"]
        if fit.get("estimator") == "kde" and options.get("bandwidth") == "mixture" and options.get("holdout") == 0.0:
            options["holdout"] = 0.1

    return each_fit(value, change)


def quoted(text):
    return re.sub(r"--([a-z][a-z0-9-]*)", r"`\1`", text)


def option_names_of_warnings(value):
    def change(fit):
        fit["warnings"] = [quoted(text) for text in fit.get("warnings", [])]

    return each_fit(value, change)


def part_names(value):
    """In texts, in lines of logs, in warnings."""
    if isinstance(value, str):
        for old, new in PARTS.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, list):
        return [part_names(item) for item in value]
    if isinstance(value, dict):
        return {key: part_names(item) for key, item in value.items()}
    return value


NEW = "[!o]*/*"  # the runs named old-* read what the recording holds, and show it as it is

RULES = [
    Rule("encoding", "Settings say whether features are drawn or the coordinates: a new option.", keys=["encoding"]),
    Rule("encoding in words", "The same in a listing.", where="*/*-info.stdout",
         lines=r"^ +encoding +(auto|coordinates|drawn)$"),
    Rule("decay of coordinates", "They are no longer said by a decay of 60.", where=NEW, change=decay_of_coordinates),
    Rule("share of kernels", "Models state what kernels of several widths held out.", where=NEW, change=share_of_kernels),
    Rule("share of kernels in words", "The same in a listing.", where="[!o]*/*-info.stdout",
         lines=r"^ {6,}holdout +0(\.1)?$"),
    Rule("names in warnings", "The library names options without a program's dashes, in the files of models, too.",
         where="[!o]*/*.safetensors", change=option_names_of_warnings),
    Rule("names of parts", "A stack's parts have one set of names.", where=NEW, change=part_names),
    Rule("hashes of models", "They are of files that differ by the above.", keys=["started_from", "encoding_from"]),
    Rule("hash of a model", "The same in a result of reproduce.", where="reproduce-connectivity/*.jsonl", keys=["model"]),
    Rule("accuracy of heat", "Kernels on surfaces do read the accuracy that is asked for.", where="unordered-kde-mesh2/*",
         moved=True),
    Rule("help", "Help shows what is usual, computed, and no longer repeats it in words.", where="help/*", moved=True),
    Rule("words", "A sentence in better English.", where="refused-weights/*.stderr", lines=r"weights are needed, one"),
    Rule("relu", "ReLU is an activation of the field: trained by its loop, in float32.", where="relu-*/*", moved=True),
    Rule("relu elsewhere", "The same.", where="*-relu/*", moved=True),
    Rule("relu of 0.1", "A model of 0.1 is evaluated in float32.", where="old-relu-t2/*", moved=True),
    Rule("metis", "METIS orders the matrices of eigenpairs: their last digits move.", where="eigen-*/*", moved=True),
    Rule("metis, sparse", "The same, and a fit on them.", where="*-mesh-sparse/*", moved=True),
    Rule("metis, quadratic", "The same.", where="*-mesh-quadratic/*", moved=True),
    Rule("nodes of a surface", "Figures give nodes of a surface's rule by their positions, which are looked for again: the "
         "last digits of sums over them move.", where="plot-surface-given/*.stdout", keys=["mass_error"]),
]
