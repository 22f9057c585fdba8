"""listed.py - what may differ between a recording and the program of today, and why. No rule: nothing may.

A rule is met where it changes what is compared; record.py then says `equal but for what is listed` and names the rule.
It says, too, which rules were met nowhere: they can go."""

from typing import Callable, NamedTuple, Optional, Sequence


class Rule(NamedTuple):
    name: str  # a few words, shown beside each run that differs by it
    why: str  # a sentence: what changed, and why that is right
    where: str = "*"  # shell pattern of RUN/FILE, as in "kde-*/m.safetensors" or "*/*.stdout"
    keys: Sequence[str] = ()  # keys of JSON (outputs, logs, facts of models), at any depth: removed from both sides
    arrays: Sequence[str] = ()  # shell patterns of arrays of a .safetensors file: removed from both sides
    lines: Optional[str] = None  # regular expression: lines of text that it is found in are removed from both sides
    absent: bool = False  # the file may be there on one side alone
    # From what was recorded to what is expected instead; must return a new value where it changes something. It gets
    #   .safetensors        {"facts": {...}, "arrays": {name: {"dtype": ..., "shape": [...], "bytes": b"..."}}, ...}
    #   JSON, JSON lines    a list of values, one a line
    #   .npy                {"dtype": ..., "shape": [...], "bytes": b"..."}
    #   other text          a str; anything else: bytes
    # and the order of the keys of an object counts.
    change: Optional[Callable] = None


RULES = []
