"""check_record.py PROGRAM - holds record.py to verdicts that are known: equal, listed, different; in words."""

import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import record  # noqa: E402
from listed import Rule  # noqa: E402


def model(facts, **arrays):
    """A .safetensors file of arrays of doubles."""
    header, body = {"__metadata__": {"format": "neuropmd", "neuropmd": json.dumps(facts)}}, b""
    for name, values in arrays.items():
        data = struct.pack(f"<{len(values)}d", *values)
        header[name] = {"dtype": "F64", "shape": [len(values)], "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def verdict(name, old, new, *rules):
    found, met = record.compare_file("run/" + name, old, new, rules)
    return "; ".join(found) + (" | " + ", ".join(met) if met else "")


def models():
    old = model({"version": "0.1.0", "tau": 1e-4, "options": {"width": 16}}, weight=[1.0, 2.0, 3.0], bias=[0.5])
    assert verdict("m.safetensors", old, old) == ""
    other = model({"version": "0.2.0-dev", "tau": 1e-4, "options": {"width": 16}}, weight=[1.0, 2.0, 3.0], bias=[0.5])
    assert verdict("m.safetensors", old, other) == ""  # the version is no part of it
    other = model({"version": "0.1.0", "tau": 1e-4, "options": {"width": 17}}, weight=[1.0, 2.5, 3.0], bias=[0.5])
    assert verdict("m.safetensors", old, other) == (
        "facts.options.width: 16 -> 17; array weight: 1 of 3 values, first at [1]: 2.0 -> 2.5, largest change 0.5")
    wide = Rule("wide", "", keys=["width"])
    heavy = Rule("heavy", "", arrays=["weig*"])
    assert verdict("m.safetensors", old, other, wide).startswith("array weight: ")
    assert verdict("m.safetensors", old, other, wide, heavy) == " | wide, heavy"
    assert verdict("m.safetensors", old, other, wide._replace(where="other/*"), heavy) == \
        "facts.options.width: 16 -> 17 | heavy"
    assert verdict("m.safetensors", old, old, wide, heavy) == ""  # equal is equal, whatever is listed
    changed = Rule("wider", "", change=lambda m: {**m, "facts": {**m["facts"], "options": {"width": 17}}})
    assert verdict("m.safetensors", old, other, changed, heavy) == " | wider, heavy"
    assert "width: 17 -> 16" in verdict("m.safetensors", old, old[:-8] + other[-8:], changed)  # what must differ must
    other = model({"version": "0.1.0", "tau": 1e-4, "options": {"width": 16}}, bias=[0.5], weight=[1.0, 2.0, 3.0])
    assert verdict("m.safetensors", old, other) == "the arrays stand in another order"
    other = model({"version": "0.1.0", "tau": 1e-4, "options": {"width": 16}}, weight=[1.0, 2.0, 3.0], extra=[0.5])
    assert verdict("m.safetensors", old, other) == "array bias is no longer there; array extra is new"


def outputs():
    line = b'{"step": 1, "seconds": %s, "rate": 0.5, "data": %s}\n'
    assert verdict("log.jsonl", line % (b"0.1", b"2") * 2, line % (b"9", b"2") * 2) == ""
    found = verdict("log.jsonl", line % (b"0.1", b"2") * 2, line % (b"0.1", b"2") + line % (b"9", b"3"))
    assert found == "line 2.data: 2 -> 3", found
    found = verdict("01-fit.stdout", line % (b"0.1", b"2"), line % (b"9", b"2.0"))
    assert found == "data: 2 -> 2.0", found
    found = verdict("01-fit.stdout", line % (b"0.1", b"0.10"), line % (b"9", b"0.1"))
    assert found.startswith("the same values, written differently: line 1"), found
    found = verdict("01-fit.stdout", b'{"warnings": []}', b'{"warnings": ["too few"]}')
    assert found == 'warnings: 0 -> 1 values, new is "too few"', found
    table = b'{"profile": [[1, 0.5, %s, 3], [2, 1, %s, 4]], "course": [[1, 1, 9, %s]]}\n'
    assert verdict("r.jsonl", table % (b"1", b"2", b"3"), table % (b"4", b"5.5", b"3")) == ""
    assert verdict("r.jsonl", table % (b"1", b"2", b"3"), table % (b"4", b"5.5", b"4")) == "course[0][3]: 3 -> 4"
    found = verdict("01-fit.stdout", b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}')
    assert "another order" in found, found
    words = b"steps            40 in %s s\npeak memory      %s MiB\nobjective        %s\n"
    assert verdict("01-fit.stdout", words % (b"0.1", b"6.2", b"1"), words % (b"12", b"7", b"1")) == ""
    found = verdict("01-fit.stdout", words % (b"0.1", b"6.2", b"1"), words % (b"0.1", b"6.2", b"2"))
    assert found == "line 3: 'objective        1' -> 'objective        2'", found
    progress = b"neuropmd fit: step 300 of 500 (60 %), objective 0.4, 80 steps/s, 2.5 s left\n"
    warning = b"neuropmd fit: warning: 40 steps are too few\n"
    assert verdict("01-fit.stderr", progress + warning, warning) == ""
    assert verdict("01-fit.stderr", progress + warning, b"") != ""
    assert verdict("r_course.csv", b"step,seconds,ae\n1,0.5,2\n", b"step,seconds,ae\n1,0.7,2\n") == ""
    assert verdict("f.csv", b"1\n2\n", None) == "is no longer written"
    assert verdict("f.csv", None, b"1\n", Rule("new", "", where="run/f.csv", absent=True)) == " | new"


def whole(program):
    """A run of the program, recorded and compared; then the recording is spoiled."""
    def tool(*arguments):
        done = subprocess.run([sys.executable, os.path.join(HERE, "record.py"), *arguments, "--only", "uniform-t2"],
                              stdout=subprocess.PIPE, universal_newlines=True)
        return done.returncode, done.stdout

    with tempfile.TemporaryDirectory() as folder:
        status, said = tool("make", program, folder)
        assert status == 0, said
        status, said = tool("compare", program, folder, "--threads", "2")
        assert status == 0 and said.endswith("\n1 equal, 0 equal but for the list, 0 differ\n"), said
        path = os.path.join(folder, "uniform-t2", "f.npy")
        data = record.read(path)
        record.write(path, data[:-8] + struct.pack("<d", 1.5))
        status, said = tool("compare", program, folder)
        assert status == 1 and "DIFFERS (f.npy: 1 of 220 values, first at [219]: 1.5 -> " in said, said


models()
outputs()
whole(sys.argv[1])
print("1 passed, 0 failed")
