"""program_reference.py PROGRAM - the reference of the program, from what `neuropmd help` prints, on stdout.

Nothing is written twice: the texts are those of the tables behind --help and the manual page."""

import re
import subprocess
import sys

from rst import code, heading, indented, plain

COMMON = "Every command"


def told(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


def sections(text):
    """Title and lines of each part: the first line and what follows up to "Options:", then the groups."""
    parts = [("", [])]
    for line in text.rstrip("\n").split("\n"):
        title = re.fullmatch(r"([A-Z][^:]*):", line)
        if title:
            parts.append((title.group(1), []))
        else:
            parts[-1][1].append(line)
    return parts


def options(lines):
    """(signature, help) of rows like `  --name VALUES   help`, whose help may begin in the next line."""
    rows = []
    for line in lines:
        row = re.fullmatch(r"  (\S.*?)(?: {2,}(.*))?", line)
        if row and not line.startswith("   "):
            signature, help_text = row.group(1), row.group(2) or ""
            if len(signature) > 27 and not help_text and line.find(" ", 2) > 0 and "  " in signature:
                signature, _, help_text = signature.partition("  ")
            rows.append([signature, help_text.strip()])
        elif line.strip():
            rows[-1][1] += " " + line.strip()
    return rows


def put_options(lines):
    for signature, help_text in options(lines):
        print(f".. option:: {signature}\n")
        print(indented(plain(help_text.strip() or "...")))


def put_command(name, common):
    parts = sections(told("help", name))
    first = "\n".join(parts[0][1])
    summary = first.split("\n")[0].partition(": ")[2]
    usage = re.search(r"^Usage: (.*(?:\n {2,}.*)*)", first, re.M).group(1)
    details = first[first.index(usage) + len(usage) :].strip("\n")
    print(heading(name, "-"))
    print(f".. program:: neuropmd {name}\n")
    print(plain(summary[0].upper() + summary[1:]) + ".\n")
    print(code(usage, "text"))
    for paragraph in filter(None, re.split(r"\n\s*\n", details)):
        if paragraph.startswith("  "):
            print(code(re.sub(r"^  ", "", paragraph, flags=re.M), "text"))
        else:
            print(plain(paragraph) + "\n")
    for title, lines in parts[1:]:
        if title == COMMON:
            common[title] = lines
        elif title == "Examples":
            print("**Examples**\n")
            print(code("\n".join(line.strip() for line in lines), "sh"))
        else:
            if title != "Options":
                print(f"**{plain(title)}**\n")
            put_options(lines)


def main():
    overview, common = sections(told("help")), {}
    names = [line.split()[0] for title, lines in overview if title == "Commands" for line in lines if line.strip()]
    print(heading("The program", "="))
    print("``neuropmd COMMAND [options]``: what ``neuropmd help`` and ``neuropmd help COMMAND`` print, gathered. Options are written\n"
          "``--name value`` or ``--name=value``. Results go to standard output, progress and errors to standard error.\n")
    print(code(told("help"), "text"))
    for name in names:
        if name != "help":
            put_command(name, common)
    print(heading(COMMON, "-"))
    print(".. program:: neuropmd\n")
    put_options(common[COMMON])


main()
