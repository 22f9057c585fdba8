#!/usr/bin/env python3
"""run.py [--keep FOLDER] PROGRAM [PAGE ...] - runs every code block of the documentation.

A page is a Markdown file; without any, README.md, CONTRIBUTING.md and docs/*.md are run. Its blocks run in their order,
in one scratch folder that is removed at the end (or in FOLDER, which stays: a fit whose model is there is then not
repeated), and the language of a block says how:

    sh      by bash, which stops at the first command that fails; `neuropmd` is PROGRAM
    c       a whole program, compiled against include/neuropmd.h and the library beside PROGRAM, and run
    python  in one interpreter for the page, so that a block sees the names of those before it
    r       by Rscript, which keeps its workspace from block to block
    json    must be JSON
    output  what the block before it prints. Numbers agree within a hundredth, or one unit of the last digit shown;
            `...` stands for anything in a line, and a line of `...` for any number of lines
    text    a formula, a layout, a picture in letters: not run

A block without a language fails. Comments just above a block, which no reader of the page sees, say more:

    <!-- setup: NAME ... -->    runs tests/docs/setup_NAME.py (or .sh) in the scratch folder: files that a user of the page has
    <!-- needs: X, Y -->        skips the block, and says so, where X or Y is missing (see NEEDS)
    <!-- file: NAME -->         the block is also kept as a file of that name
    <!-- from: FILE -->         the block is quoted from that file of the source tree: it must stand there, and is not run
    <!-- exit: N -->            the block ends with this status, and not with 0
    <!-- tolerance: X -->       relative, of the numbers of an output block
    <!-- full size -->          see below

So that pages may show real commands and yet take no time, `fit` and `select` get small sizes from a configuration file
(SMALL; options on the command line rule over it), except in blocks of full size. With NPMD_DOCS_ALL=1 all blocks are of
full size, and those that need `time` run, too. TAP lines on stdout, last line `N passed, N failed, N skipped`; the exit status
is the verdict. A block in which the program says that it was built without something (exit status 6) is skipped. Standard
library only."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ALL = os.environ.get("NPMD_DOCS_ALL", "") not in ("", "0")
SECONDS = 1800 if ALL else 120  # a hang; small blocks take a second
SMALL = {"steps": 30, "width": 16, "features": 16, "q1": 256, "q2": 64, "batch": 256, "accuracy": 0.05}
LANGUAGES = ("sh", "c", "python", "r", "json", "output", "text")

# One interpreter a page: reads {"code": ...} a line, answers {"out": ..., "error": ...} a line.
PYTHON_SESSION = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(json.loads(line)["code"], "block", "exec"), names)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps({"out": out.getvalue(), "error": error}), flush=True)
"""


class Block:
    def __init__(self, page, line, language, text, marks):
        self.page, self.line, self.language, self.text, self.marks = page, line, language, text, marks

    def name(self):
        return f"{self.page}:{self.line} {self.language or '(no language)'}"


class Failure(Exception):
    pass


class Absent(Exception):
    """The program says that it was built without something, or that there is no device: exit status 6."""


# ---- Reading a page --------------------------------------------------------------------------------------------


def read_marks(comment):
    """The marks in one HTML comment: name, value."""
    body = re.sub(r"\s+", " ", comment[4:-3]).strip()
    name, _, value = body.partition(":")
    return name.strip(), value.strip()


def read_page(page):
    """Blocks of a page in their order, each with the marks just above it."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        lines = file.read().split("\n")
    blocks, marks, at = [], [], 0
    while at < len(lines):
        line = lines[at].strip()
        fence = re.match(r"(`{3,})\s*(\S*)\s*$", line)
        if fence:
            start, indent = at + 1, len(lines[at]) - len(lines[at].lstrip())
            end = start
            while end < len(lines) and lines[end].strip() != fence.group(1):
                end += 1
            text = "".join(text_line[indent:] + "\n" for text_line in lines[start:end])
            blocks.append(Block(page, at + 1, fence.group(2), text, dict(marks)))
            marks, at = [], end + 1
        elif line.startswith("<!--"):
            end = at
            while "-->" not in lines[end]:
                end += 1
            marks.append(read_marks("\n".join(lines[at : end + 1]).strip()))
            at = end + 1
        else:
            if line:
                marks = []
            at += 1
    return blocks


# ---- What may be missing ---------------------------------------------------------------------------------------


def shared_folder():
    return os.environ.get("NEUROPMD_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")


def works(*command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()).returncode == 0
    except OSError:
        return False


NEEDS = {
    "shared data": lambda: os.path.isdir(os.path.join(shared_folder(), "data")),
    "time": lambda: ALL,
    "a card": lambda: works("nvidia-smi"),
    "R": lambda: shutil.which("Rscript") is not None,
    "reticulate": lambda: works("Rscript", "-e", "library(reticulate)"),
    "octave": lambda: shutil.which("octave-cli") is not None,
    # A package that is there and cannot be imported is a failure, no reason to skip.
    "the Python package": lambda: os.path.isdir(os.path.join(ROOT, "python", "neuropmd")) and works(interpreter(), "-c", "import numpy"),
    # What changes the machine or the source tree is for readers.
    "root": lambda: False,
    "the network": lambda: False,
    "the source tree": lambda: False,
    "your own data": lambda: False,
}


def missing(block):
    """The first need that is not met, or None."""
    for need in filter(None, (word.strip() for word in block.marks.get("needs", "").split(","))):
        if need.startswith("python "):
            met = works(interpreter(), "-c", "import " + need.split()[1])
        elif need in NEEDS:
            met = NEEDS[need]()
        else:
            raise Failure(f"unknown need '{need}'; tests/docs/run.py knows {', '.join(NEEDS)} and python MODULE")
        if not met:
            return need
    return None


# ---- Output ----------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")


def same_number(shown, found, tolerance):
    """Within the tolerance, or one unit of the last digit shown: rounding may fall either way."""
    a, b = float(shown.replace(",", "")), float(found.replace(",", ""))
    mantissa, _, exponent = shown.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    return abs(a - b) <= max(tolerance * abs(a), unit if decimals or exponent else 0.0)


def same_line(shown, found, tolerance):
    """Words must be equal, numbers nearly; `...` is anything."""
    pattern, numbers, at = "", [], 0
    for match in re.finditer(r"\.\.\.|" + NUMBER.pattern, shown):
        pattern += re.sub(r"(\\?\s)+", r"\\s+", re.escape(shown[at : match.start()]))
        if match.group() == "...":
            pattern += ".*?"
        else:
            pattern += "(" + NUMBER.pattern + ")"
            numbers.append(match.group())
        at = match.end()
    pattern += re.sub(r"(\\?\s)+", r"\\s+", re.escape(shown[at:]))
    got = re.fullmatch(pattern, found)
    return got is not None and all(same_number(a, b, tolerance) for a, b in zip(numbers, got.groups()))


def compare(shown, found, tolerance):
    """None, or a sentence about the first line that differs. Blanks at both ends of a line do not count."""
    want = [line.strip() for line in shown.strip("\n").split("\n")]
    have = [line.strip() for line in found.strip("\n").split("\n")]
    at = 0
    for number, line in enumerate(want):
        if line == "...":
            rest = want[number + 1] if number + 1 < len(want) else None
            while at < len(have) and (rest is None or not same_line(rest, have[at], tolerance)):
                at += 1
            continue
        if at >= len(have):
            return f"line '{line}' is shown, but nothing more was printed"
        if not same_line(line, have[at], tolerance):
            return f"line '{line}' is shown, '{have[at]}' was printed"
        at += 1
    return None if at >= len(have) else f"'{have[at]}' was printed and is not shown"


# ---- Running ---------------------------------------------------------------------------------------------------

folder = keep = library = program = None


def environment():
    env = dict(os.environ)
    env.update(
        PATH=os.path.join(folder, ".bin") + os.pathsep + env.get("PATH", ""),
        PYTHONPATH=os.path.join(ROOT, "python") + os.pathsep + env.get("PYTHONPATH", ""),
        NEUROPMD_LIBRARY=os.path.join(library, "libneuropmd.so"),
        NEUROPMD_SHARED=shared_folder(),
        NPMD_TREE=ROOT,
        NPMD_PROGRAM=program,
        LC_ALL="C.UTF-8",
        MPLBACKEND="Agg",
    )
    return env


@functools.lru_cache
def interpreter():
    """The Python that runs blocks: one that has NumPy, if there is any."""
    found = (p for p in (sys.executable, "/usr/bin/python3") if works(p, "-c", "import numpy"))
    return next(found, sys.executable)


def stage():
    """The scratch folder's `neuropmd`: the program, with small sizes for fits unless the block is of full size."""
    tools = os.path.join(folder, ".bin")
    os.makedirs(tools, exist_ok=True)
    for name, sizes in (("fit", dict(SMALL, tau=1e-4)), ("select", SMALL)):
        with open(os.path.join(tools, name + ".json"), "w") as file:
            json.dump(sizes, file)
    with open(os.path.join(tools, "neuropmd"), "w") as file:
        file.write(
            f"""#!/bin/sh
if [ -n "{keep or ''}" ] && [ "$1" = fit ]; then
    model=$(printf '%s\\n' "$@" | sed -n '/^--out$/{{n;p;}}')
    [ ! -e "$model" ] || exit 0
fi
case $* in
*--config*) ;;
"fit "*|"select "*) [ -n "$NPMD_FULL_SIZE" ] || set -- "$@" --config {tools}/$1.json ;;
esac
exec {program} "$@"
"""
        )
    os.chmod(os.path.join(tools, "neuropmd"), 0o755)


def command(words, block, text=None):
    """Runs it in the scratch folder; stdout, or a failure that quotes stderr."""
    env = environment()
    if block.language == "r":
        env["RETICULATE_PYTHON"] = interpreter()
    if (ALL and block.language != "setup") or "full size" in block.marks:
        env["NPMD_FULL_SIZE"] = "1"
    expected = int(block.marks.get("exit", 0))
    try:
        done = subprocess.run(words, cwd=folder, env=env, input=text or "", capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"still running after {SECONDS} seconds")
    if done.returncode == 6 != expected and words[0] == "bash":
        raise Absent((done.stderr.strip() or "what the program was built without").split("\n")[-1])
    if done.returncode != expected:
        raise Failure(f"exit status {done.returncode}, expected {expected}: {(done.stderr or done.stdout)[-600:]}")
    return done.stdout


class Page:
    """One scratch folder, one Python."""

    def __init__(self):
        self.python = None

    def run_sh(self, block):
        return command(["bash", "-euo", "pipefail", "-c", block.text], block)

    def run_c(self, block):
        source, binary = os.path.join(folder, "block.c"), os.path.join(folder, "block")
        with open(source, "w") as file:
            file.write(block.text)
        compiler = os.environ.get("CC") or "cc"
        flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "include")]
        plain = Block(block.page, block.line, "c", "", {})
        command(compiler.split() + flags + [source, "-o", binary, "-L" + library, "-lneuropmd", "-lm", "-Wl,-rpath," + library], plain)
        return command([binary], block)

    def run_python(self, block):
        if self.python is None:
            self.python = subprocess.Popen(
                [interpreter(), "-c", PYTHON_SESSION], cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        self.python.stdin.write(json.dumps({"code": block.text}) + "\n")
        self.python.stdin.flush()
        answer = json.loads(self.python.stdout.readline() or '{"out": "", "error": "the interpreter ended"}')
        if answer["error"]:
            raise Failure(answer["error"][-800:])
        return answer["out"]

    def run_r(self, block):
        with open(os.path.join(folder, "block.R"), "w") as file:
            file.write(block.text)
        kept = ".workspace.RData"
        load = f'if (file.exists("{kept}")) load("{kept}"); '
        return command(["Rscript", "-e", load + f'source("block.R", print.eval = TRUE); save.image("{kept}")'], block)

    def run_json(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            raise Failure(f"no JSON: {error}")
        return ""

    def run_text(self, block):
        return ""

    def close(self):
        if self.python:
            self.python.stdin.close()
            self.python.wait()


def quoted(block):
    with open(os.path.join(ROOT, block.marks["from"]), encoding="utf-8") as file:
        if block.text.strip("\n") not in file.read():
            raise Failure(f"{block.marks['from']} does not hold these lines; quote it anew")


def run_block(page, block, before):
    """What it printed; None where it is a quotation. `before` is what the last block printed, None where it was skipped."""
    if block.language not in LANGUAGES:
        raise Failure(f"language '{block.language}' was found, one of {', '.join(LANGUAGES)} was expected")
    for mark in block.marks:
        if mark not in ("setup", "needs", "file", "from", "exit", "tolerance", "full size"):
            raise Failure(f"unknown mark '{mark}'")
    for name in block.marks.get("setup", "").split():
        script = os.path.join(HERE, "setup_" + name)
        words = [sys.executable, script + ".py"] if os.path.exists(script + ".py") else ["bash", "-eu", script + ".sh"]
        command(words, Block(block.page, block.line, "setup", "", {}))
    if "file" in block.marks:
        with open(os.path.join(folder, block.marks["file"]), "w") as file:
            file.write(block.text)
    if "from" in block.marks:
        return quoted(block)
    if block.language == "output":
        wrong = compare(block.text, before, float(block.marks.get("tolerance", 0.01)))
        if wrong:
            raise Failure(wrong)
        return before
    return getattr(page, "run_" + block.language)(block)


def run_page(path, count, totals):
    page, printed = Page(), None
    try:
        for block in read_page(path):
            if block.language == "text" and not block.marks:
                continue
            count += 1
            try:
                absent = missing(block)
                if absent is None and block.language == "output" and printed is None:
                    absent = "the block before it"
                if absent:
                    totals[2] += 1
                    if block.language != "output":
                        printed = None
                    print(f"ok {count} - {block.name()} # SKIP needs {absent}", flush=True)
                    continue
                printed = run_block(page, block, printed)
                totals[0] += 1
                print(f"ok {count} - {block.name()}", flush=True)
            except Absent as absent:
                printed = None
                totals[2] += 1
                print(f"ok {count} - {block.name()} # SKIP {absent}", flush=True)
            except Failure as failure:
                printed = None
                totals[1] += 1
                print(f"not ok {count} - {block.name()}")
                print("".join(f"# {line}\n" for line in str(failure).split("\n")), end="", flush=True)
    finally:
        page.close()
    return count


def main():
    global folder, keep, library, program
    words = sys.argv[1:]
    if words[:1] == ["--keep"]:
        keep, words = os.path.abspath(words[1]), words[2:]
    if not words:
        print("usage: run.py [--keep FOLDER] PROGRAM [PAGE ...]", file=sys.stderr)
        return 2
    program = os.path.abspath(words[0])
    library = os.path.dirname(program)
    pages = words[1:] or ["README.md", "CONTRIBUTING.md"] + sorted(
        "docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")
    )
    count, totals = 0, [0, 0, 0]
    for path in pages:
        folder = keep or tempfile.mkdtemp(prefix="neuropmd_docs.")
        try:
            stage()
            count = run_page(path, count, totals)
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{totals[0]} passed, {totals[1]} failed" + (f", {totals[2]} skipped" if totals[2] else ""))
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
