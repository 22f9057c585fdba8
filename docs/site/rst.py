"""rst.py - what the generated pages share: plain text as reStructuredText."""

import re


def plain(text):
    """Text in which nothing is markup; names of functions and options stand in a fixed font."""
    pieces = re.split(r"(`[^`]+`|\b(?:npmd|NPMD)_\w+(?:\([^()]*\))?|(?<![\w-])--[a-z][\w-]*|(?<!\w)\*out\b)", text)
    return "".join(f"``{p.strip('`')}``" if i % 2 else re.sub(r"([\\*`|_])", r"\\\1", p) for i, p in enumerate(pieces)).replace("````", "`` ``")


def heading(text, line):
    return f"{text}\n{line * len(text)}\n\n"


def indented(text, by="   "):
    return "".join(by + line + "\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def code(text, language):
    return f".. code-block:: {language}\n\n{indented(text)}\n"
