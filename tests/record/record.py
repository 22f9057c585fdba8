#!/usr/bin/env python3
"""record.py - what the program writes, recorded once and compared after every change of the source.

    record.py make PROGRAM FOLDER       runs every run of runs.py and keeps all that it wrote in FOLDER/RUN/
    record.py compare PROGRAM FOLDER    runs them again elsewhere and compares file by file
    record.py list                      the runs and their commands

Options: --only PATTERN (shell pattern of the names of runs), --jobs N (runs at a time, 2), --threads N (of each
command, 1), --all (compare: every difference, not the first of a run), --keep DIR (compare: what was written
stays there).

compare prints one line a run, `equal`, `equal but for what is listed (RULES)` or `DIFFERS (FILE: WHAT)`, and a last
one, `N equal, M equal but for the list, K differ`; the exit status is 1 if any differs. What may differ is in
listed.py. Times, peak memory, the version and lines of progress vary from run to run, or from build to build, and are
no part of the comparison; all else is, to the last bit. Bits hold for one kind of processor and one set of libraries: a
recording is made and compared on the same machine. Standard library only."""

import argparse
import array
import concurrent.futures
import fnmatch
import gzip
import json
import math
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import listed
import runs

SECONDS = 300  # a hang: the longest command takes some seconds
FACTS = "recorded.json"  # of a recording: what it was made with
SKIPPED = "skipped.txt"  # of a run: what the program was built without

# ---- Running ----------------------------------------------------------------------------------------------------


class Failure(Exception):
    pass


def words(command):
    """How a command of the table is shown."""
    return (f"(SIGTERM after {command.lines} lines of {command.log}) " if command.log else "") + command.text


def execute(program, command, folder, threads, streams):
    """One command in its folder; returns its exit status."""
    arguments = shlex.split(command.text)
    if arguments[0] not in ("help", "man"):  # which take no options
        arguments += ["--threads", str(threads)]
    # Threads that wait must not hold a core that another run needs, and the user's language must not change words.
    theirs = ("OMP_", "LC_", "LANG", "NPMD_", "NEUROPMD_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(theirs)}
    environment.update(LC_ALL="C", OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1")
    with open(streams + ".stdout", "wb") as out, open(streams + ".stderr", "wb") as err:
        child = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=environment)
        try:
            if command.log:
                await_lines(child, os.path.join(folder, command.log), command.lines)
                child.send_signal(signal.SIGTERM)
            return child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"{command.text}: goes on after {SECONDS} s") from None
        finally:
            child.kill()
            child.wait()


def await_lines(child, path, lines):
    """Until the file has so many lines, or the program ended before: then its exit status will tell."""
    while child.poll() is None and not (os.path.exists(path) and read(path).count(b"\n") >= lines):
        time.sleep(0.005)


def perform(program, run, folder, recording, threads):
    """All commands of a run in a new folder; returns what did not end as the table says, a list of sentences."""
    os.makedirs(folder)
    for name, data in run.files.items():
        write(os.path.join(folder, name), data)
    for name, source in run.takes.items():
        source = os.path.join(recording, source)
        if lacks(os.path.dirname(source)):
            shutil.copy(os.path.join(os.path.dirname(source), SKIPPED), folder)
            return []
        if not os.path.exists(source):
            raise Failure(f"{source} is not recorded, and this run reads it")
        shutil.copy(source, os.path.join(folder, name))
    statuses, odd = "", []
    for k, command in enumerate(run.commands, 1):
        streams = os.path.join(folder, f"{k:02d}-{command.text.split()[0]}")
        status = execute(program, command, folder, threads, streams)
        said = read(streams + ".stderr").decode(errors="replace")
        if status == 6 != command.status and re.search("was not found|built without", said):
            write(os.path.join(folder, SKIPPED), said.encode())
            return []
        if status != command.status:
            odd.append(f"exit status {status}, not {command.status}: {words(command)}: {said.strip()[-300:]}")
        statuses += f"{status}\t{words(command)}\n"
    write(os.path.join(folder, "commands.txt"), statuses.encode())
    return odd


def lacks(folder):
    """What a run was skipped for, or an empty text."""
    path = os.path.join(folder, SKIPPED)
    return read(path).decode(errors="replace").strip() if os.path.exists(path) else ""


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, content):
    with open(path, "wb") as f:
        f.write(content)


# ---- What a file holds, without what varies -------------------------------------------------------------------------

VARYING = re.compile(r'"(seconds|peak_memory_bytes|resumed|version)": ?("[^"]*"|[^,}\]\s]+)')  # resumed: at which step
TABLE = re.compile(r'"(profile|course)": ?\[(\[[^\]]*\](, ?)?)*\]')  # rows of step, epoch, seconds, ...
ROW = re.compile(r"\[([^],]+), ?([^],]+), ?[^],]+")
TIME = r"(\d+(\.\d+)? s|\d+ min \d+ s|\d+ h \d+ min)\b"
WORDS = [  # of other text: what varies, and what stands for it
    (VARYING, r'"\1": "VARIES"'),  # in a page
    (re.compile(r"\bneuropmd \d+(\.\d+)+(-\w+)?"), "neuropmd VERSION"),
    (re.compile(r"^(version +)\d\S*", re.M), r"\1VERSION"),
    (re.compile(r"\bin " + TIME), "in TIME"),
    (re.compile(r"^((peak )?memory) +[\d.]+ ([KMGT]iB|bytes)", re.M), r"\1 MEMORY"),
]
# In the tables of reproduce, with the blanks before them.
COLUMNS = [(re.compile(" +" + TIME), " TIME"), (re.compile(r" +[\d.]+ [KMGT]iB"), " MEMORY")]
PROGRESS = re.compile(r"^neuropmd \w+: (.*steps/s, .* left|.*\bstep [\d,]+(, objective .*)?|\d+ % evaluated|"
                      r".*\d+ %, .* left|learning where the density is large.*|eigenfunctions of a surface: solve .*|"
                      r"\d+ of \d+ done; now.*)\n", re.M)


def content(name, data):
    """(kind, value) of a file: what is compared, and what the rules of listed.py change."""
    try:
        if name.endswith((".safetensors", ".ck")):
            return "model", model(data)
        if name.endswith(".npy"):
            return "array", npy(data)
        if name.endswith(".png"):
            return "picture", picture(data)
    except (ValueError, KeyError, AttributeError, struct.error, zlib.error):
        return "bytes", data  # one that a run wrote by hand, to be refused
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "bytes", data
    if name.endswith(".stderr"):
        text = PROGRESS.sub("", text)
    if name.endswith((".json", ".jsonl")) or text.startswith("{"):
        values = json_values(steady(text))
        if values is not None:
            return "json", values
    for pattern, instead in WORDS + (COLUMNS if re.search(r"-reproduce\.std(out|err)$", name) else []):
        text = pattern.sub(instead, text)
    if name.endswith(".csv") and re.match(r"[^\n]*\bseconds\b", text):
        text = without_seconds(text)
    return "text", text


def steady(text):
    """The text of JSON without what varies; it is JSON still."""
    text = VARYING.sub(r'"\1": "VARIES"', text)
    return TABLE.sub(lambda table: ROW.sub(r'[\1, \2, "VARIES"', table.group()), text)


def json_values(text):
    """The values of a text of JSON, one a line, or one in all; None if it is something else."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        try:
            return [json.loads(text)]
        except ValueError:
            return None


def without_seconds(text):
    lines = [line.split(",") for line in text.splitlines()]
    at = lines[0].index("seconds")
    for line in lines[1:]:
        line[at] = "TIME"
    return "".join(",".join(line) + "\n" for line in lines)


def model(data):
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    metadata, body = header.pop("__metadata__", {}), data[8 + size:]
    facts = json.loads(steady(metadata.pop("neuropmd", "{}")))
    arrays = {name: {"dtype": a["dtype"], "shape": a["shape"], "bytes": body[slice(*a["data_offsets"])]}
              for name, a in header.items()}
    return {"facts": facts, "metadata": metadata, "arrays": arrays}


def npy(data):
    if data[:6] != b"\x93NUMPY":
        raise ValueError
    size = struct.unpack_from("<H", data, 8)[0]
    head = data[10:10 + size].decode("latin-1")
    dtype = re.search(r"'descr': *'([^']*)'", head).group(1)
    shape = [int(k) for k in re.search(r"'shape': *\(([^)]*)\)", head).group(1).split(",") if k.strip()]
    return {"dtype": dtype, "shape": shape, "bytes": data[10 + size:]}


def picture(data):
    """Size and rows of pixels: how well zlib packed them does not matter."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError
    at, chunks = 8, []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        chunks.append((kind.decode("latin-1"), data[at + 8:at + 8 + size]))
        at += size + 12
    head = {kind: body for kind, body in chunks if kind != "IDAT"}
    width, height = struct.unpack_from(">2I", head["IHDR"])
    rows = zlib.decompress(b"".join(body for kind, body in chunks if kind == "IDAT"))
    return {"dtype": "u1", "shape": [height, len(rows) // height], "bytes": rows,
            "head": {"size": [width, height], **{k: v.hex() for k, v in head.items() if k != "IHDR"}}}


# ---- Differences, in words ------------------------------------------------------------------------------------------

FORMATS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B", "<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i",
           "u1": "B"}  # of numbers, as the module array calls them
ABSENT = "(not there)"


def differences(kind, old, new):
    """Sentences, one for each thing that differs; none: equal."""
    if kind == "text":
        return text_differences(old, new)
    if kind == "json":
        return value_differences(old, new, "", lines=True) or order_differences(old, new, "the output")
    if kind == "array":
        return array_differences("", old, new)
    if kind == "picture":
        return value_differences(old["head"], new["head"], "picture") or array_differences("pixels", old, new)
    if kind == "model":
        found = [d for part in ("facts", "metadata") for d in value_differences(old[part], new[part], part)]
        for name in [*old["arrays"], *(n for n in new["arrays"] if n not in old["arrays"])]:
            if name not in new["arrays"] or name not in old["arrays"]:
                found.append(f"array {name} is " + ("new" if name in new["arrays"] else "no longer there"))
            else:
                found += array_differences(f"array {name}", old["arrays"][name], new["arrays"][name])
        if not found and list(old["arrays"]) != list(new["arrays"]):
            found.append("the arrays stand in another order")
        return found or order_differences(old["facts"], new["facts"], "the facts")
    if old == new:
        return []
    at = next((k for k, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    return [f"byte {at + 1}: {old[at:at + 8].hex()} -> {new[at:at + 8].hex()} ({len(old)} -> {len(new)} bytes)"]


def text_differences(old, new, before=""):
    if old == new:
        return []
    a, b = old.splitlines(), new.splitlines()
    count = sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
    at = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    x, y = (lines[at] if at < len(lines) else ABSENT for lines in (a, b))
    return [f"{before}line {at + 1}: {around(x, y)}" + (f", {count} lines differ" if count > 1 else "")]


def around(old, new, most=90):
    """Both lines, cut to where they differ."""
    at = next((k for k, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    first = max(0, at - most // 2)

    def cut(s):
        return ("..." if first else "") + s[first:first + most] + ("..." if len(s) > first + most else "")
    return f"'{cut(old)}' -> '{cut(new)}'"


def value_differences(old, new, path, lines=False):
    """lines: the outermost list is of the lines of a file."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in [*old, *(k for k in new if k not in old)]:
            where = f"{path}.{key}" if path else key
            if key not in new or key not in old:
                found.append(f"{where}: {shown(old.get(key, ABSENT))} -> {shown(new.get(key, ABSENT))}")
            else:
                found += value_differences(old[key], new[key], where)
        return found
    if isinstance(old, list) and isinstance(new, list):
        where = [f"{path}[{k}]" if not lines else f"line {k + 1}" if len(old) > 1 else "" for k in range(len(old))]
        found = [d for a, b, at in zip(old, new, where) for d in value_differences(a, b, at)]
        if len(old) != len(new):
            beyond = max(old, new, key=len)[min(len(old), len(new))]
            found.append(f"{path or 'the file'}: {len(old)} -> {len(new)} {'lines' if lines else 'values'}, "
                         f"{'new' if len(new) > len(old) else 'gone'} is {shown(beyond)}")
        return found
    return [] if json.dumps(old) == json.dumps(new) else [f"{path}: {shown(old)} -> {shown(new)}"]


def shown(value):
    text = value if value == ABSENT else json.dumps(value)
    return text if len(text) <= 100 else text[:97] + "..."


def order_differences(old, new, what):
    """Of values that are equal: are their keys in the same order?"""
    a, b = json.dumps(old), json.dumps(new)
    return [] if a == b else [f"{what}: keys in another order: {around(a, b)}"]


def array_differences(name, old, new):
    name = name + ": " if name else ""
    if (old["dtype"], old["shape"]) != (new["dtype"], new["shape"]):
        return [f"{name}{old['dtype']} {old['shape']} -> {new['dtype']} {new['shape']}"]
    if old["bytes"] == new["bytes"]:
        return []
    code = FORMATS.get(old["dtype"])
    if code is None or len(old["bytes"]) != len(new["bytes"]) or len(old["bytes"]) % struct.calcsize(code):
        return [f"{name}other bytes ({len(old['bytes'])} -> {len(new['bytes'])})"]
    a, b = array.array(code, old["bytes"]), array.array(code, new["bytes"])
    width = a.itemsize
    parts = [slice(k * width, (k + 1) * width) for k in range(len(a))]
    where = [k for k, part in enumerate(parts) if old["bytes"][part] != new["bytes"][part]]  # a NaN equals itself
    index, k = [], where[0]
    for side in reversed(old["shape"]):
        index.insert(0, k % side)
        k //= side
    largest = max((abs(a[k] - b[k]) for k in where if math.isfinite(a[k]) and math.isfinite(b[k])), default=math.nan)
    return [f"{name}{len(where)} of {len(a)} values, first at {index}: {a[where[0]]!r} -> {b[where[0]]!r}, "
            f"largest change {largest:.3g}"]


# ---- Rules ----------------------------------------------------------------------------------------------------------


def without_keys(value, keys):
    if isinstance(value, dict):
        return {k: without_keys(v, keys) for k, v in value.items() if k not in keys}
    return [without_keys(v, keys) for v in value] if isinstance(value, list) else value


def apply(rule, kind, value, recorded):
    """What a rule leaves of a value, on the recorded side or the other."""
    if rule.keys and kind == "json":
        value = without_keys(value, rule.keys)
    if rule.keys and kind == "model":
        value = {**value, "facts": without_keys(value["facts"], rule.keys)}
    if rule.arrays and kind == "model":
        value = {**value, "arrays": {name: a for name, a in value["arrays"].items()
                                     if not any(fnmatch.fnmatchcase(name, p) for p in rule.arrays)}}
    if rule.lines and kind == "text":
        value = "".join(line for line in value.splitlines(True) if not re.search(rule.lines, line))
    return rule.change(value) if rule.change and recorded else value


def compare_file(name, old, new, rules):
    """(differences, names of the rules that were met) of one file, name RUN/FILE; None stands for an absent one."""
    rules = [r for r in rules if fnmatch.fnmatchcase(name, r.where)]
    if old is None or new is None:
        allowed = [r.name for r in rules if r.absent]
        return ([] if allowed else ["is new" if old is None else "is no longer written"]), allowed
    if old == new and not rules:
        return [], []
    moved = [r.name for r in rules if r.moved]
    if moved and old != new:
        return [], moved
    if name.endswith(".gz"):  # how well it is packed does not matter
        name, old, new = name[:-3], gzip.decompress(old), gzip.decompress(new)
    (kind, a), (new_kind, b) = content(name, old), content(name, new)
    met = []
    for rule in rules:
        changed = apply(rule, kind, a, True), apply(rule, new_kind, b, False)
        if changed != (a, b):
            met.append(rule.name)
        a, b = changed
    if kind != new_kind:
        return [f"was {kind}, is {new_kind}"], met
    found = differences(kind, a, b)
    if not found and not met and kind in ("json", "model"):
        found = text_differences(plain(kind, old), plain(kind, new), "the same values, written differently: ")
    return found, met if old != new else []


def plain(kind, data):
    """The text of JSON, of a model that of its header, without what varies: digits, blanks and escapes count, too."""
    if kind == "json":
        return steady(data.decode())
    header = data[8:8 + struct.unpack_from("<Q", data)[0]].rstrip().decode()
    return steady(header.replace('\\"', '"'))  # the facts are JSON in a string of JSON


def files(folder):
    found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder) for path in found}


def compare_run(run, old, new, rules):
    """(differences, rules met): differences as {FILE: [WHAT, ...]}, the statuses first."""
    if not os.path.isdir(old):
        return {run.name: ["not recorded: make --only records it"]}, set()
    found, met = {}, set()
    for name in sorted(files(old) | files(new), key=lambda n: (n != "commands.txt", n)):
        if any(fnmatch.fnmatchcase(name, p) for p in run.loose):
            continue
        paths = [os.path.join(folder, name) for folder in (old, new)]
        sides = [read(path) if os.path.exists(path) else None for path in paths]
        if name == "commands.txt" and None not in sides:
            commands = [[line.split("\t", 1)[1] for line in s.decode().splitlines()] for s in sides]
            if commands[0] != commands[1]:
                return {name: ["other commands were recorded: make --only does so again, by the program of then"]}, met
        what, rule_names = compare_file(f"{run.name}/{name}", *sides, rules)
        if what:
            found[name] = what
        met.update(rule_names)
    return found, met


def summary(found):
    """The first difference, and the other files that differ."""
    (first, what), *others = found.items()
    also = [name for name, _ in others]
    also = also if len(also) <= 5 else also[:4] + [f"{len(also) - 4} more"]
    return f"{first}: {what[0]}" + (f"; also {', '.join(also)}" if also else "")


def in_full(found, most=20):
    for name, what in found.items():
        yield from (f"    {name}: {d}" for d in what[:most])
        if len(what) > most:
            yield f"    {name}: and {len(what) - most} more"


# ---- The commands of this tool --------------------------------------------------------------------------------------


def build_facts(program):
    facts = json.loads(subprocess.run([program, "version", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return {k: facts[k] for k in ("version", "compiler", "kernels") if k in facts}


def in_turn(chosen, jobs, work):
    """work(run) for all, several at a time, results in the order of the table; those that read others' files last."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for group in ([r for r in chosen if not r.takes], [r for r in chosen if r.takes]):
            yield from zip(group, pool.map(work, group))


def make(args, chosen):
    facts = os.path.join(args.folder, FACTS)
    if os.path.exists(facts) and not args.only:
        raise Failure(f"{args.folder} holds a recording: remove it first, or record some runs again with --only")
    if os.path.isdir(args.folder) and os.listdir(args.folder) and not os.path.exists(facts):
        raise Failure(f"{args.folder} holds something else")
    os.makedirs(args.folder, exist_ok=True)
    if not os.path.exists(facts):
        write(facts, json.dumps(build_facts(args.program)).encode())
    begun, failed = time.monotonic(), 0

    def work(run):
        place, start = os.path.join(args.folder, run.name), time.monotonic()
        shutil.rmtree(place, ignore_errors=True)
        return perform(args.program, run, place, args.folder, args.threads), time.monotonic() - start

    for run, (odd, seconds) in in_turn(chosen, args.jobs, work):
        failed += bool(odd)
        lacking = lacks(os.path.join(args.folder, run.name))
        verdict = "UNEXPECTED" if odd else f"skipped: {lacking}" if lacking else "recorded"
        print(f"{run.name:36} {verdict} ({seconds:.1f} s)", *odd, sep="\n    ", flush=True)
    seconds = time.monotonic() - begun
    print(f"{len(chosen)} runs recorded in {args.folder}, {failed} not as the table says, {seconds:.0f} s")
    return 1 if failed else 0


def compare(args, chosen):
    if not os.path.exists(os.path.join(args.folder, FACTS)):
        raise Failure(f"{args.folder} holds no recording")
    then, now = json.loads(read(os.path.join(args.folder, FACTS))), build_facts(args.program)
    if {**then, "version": 0} != {**now, "version": 0}:
        print(f"recorded with {then}, compared with {now}: numbers may differ for that reason")
    if args.keep and os.path.realpath(args.keep) == os.path.realpath(args.folder):
        raise Failure("--keep names the recording")
    folder = args.keep or tempfile.mkdtemp(prefix="neuropmd_record.")
    os.makedirs(folder, exist_ok=True)
    equal = but = differ = skipped = 0
    met_anywhere = set()

    def work(run):
        old, new = os.path.join(args.folder, run.name), os.path.join(folder, run.name)
        shutil.rmtree(new, ignore_errors=True)
        try:
            perform(args.program, run, new, args.folder, args.threads)
            return lacks(old) or lacks(new) or compare_run(run, old, new, listed.RULES)
        except Failure as why:
            return {run.name: [str(why)]}, set()
        finally:
            if not args.keep:
                shutil.rmtree(new, ignore_errors=True)

    try:
        for run, result in in_turn(chosen, args.jobs, work):
            if isinstance(result, str):
                skipped += 1
                print(f"{run.name:36} skipped ({result})", flush=True)
                continue
            found, met = result
            met_anywhere |= met
            if found:
                differ += 1
                print(f"{run.name:36} DIFFERS ({summary(found)})", flush=True)
                if args.all:
                    print(*in_full(found), sep="\n", flush=True)
            elif met:
                but += 1
                print(f"{run.name:36} equal but for what is listed ({', '.join(sorted(met))})", flush=True)
            else:
                equal += 1
                print(f"{run.name:36} equal", flush=True)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not args.only:
        known = {r.name for r in runs.RUNS}
        for name in sorted(set(os.listdir(args.folder)) - known - {FACTS}):
            differ += 1
            print(f"{name:36} DIFFERS (recorded, but no run of the table any more)")
        for rule in listed.RULES:
            if rule.name not in met_anywhere:
                print(f"listed, but met nowhere: {rule.name}")
    print(f"{equal} equal, {but} equal but for the list, {differ} differ" + (f", {skipped} skipped" if skipped else ""))
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "compare", "list"))
    parser.add_argument("program", nargs="?")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--only", metavar="PATTERN")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", metavar="DIR")
    args = parser.parse_args()
    chosen = [r for r in runs.RUNS if fnmatch.fnmatchcase(r.name, args.only or "*")]
    if not chosen:
        parser.error(f"no run is called {args.only}")
    if args.what == "list":
        for run in chosen:
            print(run.name, *(words(c) for c in run.commands), sep="\n    ")
        print(f"{len(chosen)} runs, {sum(len(r.commands) for r in chosen)} commands")
        return 0
    if not args.folder:
        parser.error(f"{args.what} PROGRAM FOLDER was expected")
    args.program = os.path.abspath(args.program)
    try:
        return (make if args.what == "make" else compare)(args, chosen)
    except (Failure, OSError, subprocess.CalledProcessError) as why:
        print(f"record.py: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
