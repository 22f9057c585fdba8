#!/usr/bin/env python3
"""abi.py check|write HEADER... -- LIBRARY... : the binary interface of the installed headers, against abi.txt beside this file.

It is every exported symbol, every enumerator with its value and every field of a public struct with its offset and size.
What was there once must stay as it was; what is new is an error, too, until it is written down (abi.py write), so that
nothing becomes public by accident. A struct that begins with its size may grow at its end, any other not at all.
"""
import os
import re
import subprocess
import sys
import tempfile

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "abi.txt")


def bare(text):
    """A header without comments and preprocessor lines."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)


def structs(text):
    for found in re.finditer(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
        names = []
        for declaration in found[2].split(";"):
            # "size_t streamlines, dropped[N]": the last word of each declarator, without its array
            for declarator in declaration.split(","):
                word = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", declarator.strip())
                if word:
                    names.append(word[1])
        yield found[1], names


def enumerators(text):
    for found in re.finditer(r"enum(?: \w+)? \{(.*?)\}", text, re.S):
        for item in found[1].split(","):
            word = re.match(r"\s*(\w+)", item)
            if word:
                yield word[1]


def layout(headers):
    """Lines that the compiler makes of the headers: "struct NAME SIZE", "field NAME.FIELD OFFSET SIZE", "enum NAME VALUE"."""
    text = "".join(bare(open(h, encoding="utf-8").read()) for h in headers)
    program = ["#include <stdio.h>"] + [f'#include "{os.path.abspath(h)}"' for h in headers] + ["int main(void) {"]
    for name, fields in structs(text):
        program.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields:
            program.append(f'printf("field {name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    for name in enumerators(text):
        program.append(f'printf("enum {name} %lld\\n", (long long){name});')
    program.append("return 0; }\n")
    with tempfile.TemporaryDirectory() as folder:
        source, tool = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(program))
        includes = [f"-I{os.path.dirname(os.path.abspath(h))}" for h in headers]
        subprocess.run([os.environ.get("CC", "cc"), "-std=c17", *includes, "-o", tool, source], check=True)
        return subprocess.run([tool], capture_output=True, text=True, check=True).stdout.splitlines()


def symbols(libraries):
    for library in libraries:
        out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        name = os.path.basename(library).split(".")[0]
        for line in out.splitlines():
            yield f"symbol {name} {line.split()[-1]}"


def compare(old, new):
    """Sentences about what differs."""
    def table(lines):
        return {tuple(line.split()[:2 if not line.startswith("symbol") else 3]): line.split() for line in lines}

    before, now = table(old), table(new)
    sized = {key[1].split(".")[0] for key, value in now.items() if key[0] == "field" and key[1].endswith(".size") and value[2] == "0"}
    for key, value in before.items():
        if key not in now:
            yield f"{' '.join(key)} is gone"
        elif value != now[key]:
            grew = key[0] == "struct" and key[1] in sized and int(now[key][2]) > int(value[2])
            if not grew:
                yield f"{' '.join(key)} was {' '.join(value[2:])}, is {' '.join(now[key][2:])}"
            else:
                yield f"{' '.join(key)} has grown: write it down (abi.py write)"
    for key in now:
        if key not in before:
            yield f"{' '.join(key)} is new: write it down (abi.py write)"


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("check", "write") or "--" not in sys.argv:
        sys.exit(__doc__)
    split = sys.argv.index("--")
    headers, libraries = sys.argv[2:split], sys.argv[split + 1:]
    new = sorted(layout(headers)) + sorted(symbols(libraries))
    old = open(BASELINE, encoding="utf-8").read().splitlines() if os.path.exists(BASELINE) else []
    wrong = list(compare(old, new))
    if sys.argv[1] == "write":
        gone = [text for text in wrong if not text.endswith("(abi.py write)")]
        if gone and "--break" not in os.environ.get("NPMD_ABI", ""):
            sys.exit("\n".join(gone) + "\nthis would break callers; a new first number of the version allows it (NPMD_ABI=--break)")
        with open(BASELINE, "w", encoding="utf-8") as file:
            file.write("\n".join(new) + "\n")
        print(f"{len(new)} lines written")
        return
    for text in wrong:
        print(text)
    print(f"{len(new)} symbols, fields and enumerators: " + ("as written down" if not wrong else f"{len(wrong)} differ"))
    sys.exit(1 if wrong else 0)


main()
