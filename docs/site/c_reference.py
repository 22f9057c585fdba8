"""c_reference.py HEADER... - the C reference, from the declarations and comments of the public headers, on stdout.

Headers are laid out by clang-format and by habits of their own, which is what makes this short: a section begins with a comment
`---- Title ----`; a comment on lines of its own belongs to the declaration that follows it, one behind a declaration to
that one."""

import os
import re
import sys

from rst import code, heading, indented, plain

# A comment, a line of the preprocessor, or a declaration up to its semicolon outside of braces.
PIECE = re.compile(r"/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*|[^\s/#](?:[^;{]|/\*.*?\*/)*?(?:\{.*?\n\}[^;]*)?;", re.S | re.M)


def words(comment):
    """Paragraphs of a comment, the lines of a formula as they are."""
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in comment[2:-2].strip().split("\n")]
    text = ""
    for paragraph in re.split(r"\n\n+", "\n".join(lines)):
        if all(line.startswith("  ") for line in paragraph.split("\n")):
            text += code(re.sub(r"^ +", "", paragraph, flags=re.M), "text")
        else:
            text += plain(" ".join(line.strip() for line in paragraph.split("\n"))) + "\n\n"
    return text


def sentence(comment):
    text = words(comment).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":", "?")) else ".")


def declare(piece, notes):
    """One declaration with its comments, as a directive of Sphinx's C domain."""
    bare = " ".join(re.sub(r"/\*.*?\*/", "", piece.replace("NPMD_API ", ""), flags=re.S).split())
    if bare.startswith("#define"):
        kind, signature, body = "macro", bare.split()[1], code(piece.strip(), "c")
    elif re.match(r"typedef (enum|struct) \w+ \{", bare):
        kind, signature, body = "type", re.search(r"(\w+);$", bare).group(1), code(tidy(piece), "c")
    elif re.match(r"typedef struct (\w+) \w+;", bare):
        kind, signature, body = "type", bare.split()[2], ""
    elif bare.startswith("typedef"):
        kind, signature, body = "type", bare[len("typedef ") : -1], ""
    else:
        kind, signature, body = "function", bare[:-1], ""
    text = "\n\n".join(sentence(note) for note in notes)
    print(f".. c:{kind}:: {signature}\n")
    print(indented(text + "\n\n" + body) if text or body else "")


def tidy(piece):
    """clang-format pushes enumerators behind an early comment: bring them back to four blanks."""
    lines = piece.split("\n")
    deep = [len(line) - len(line.lstrip()) for line in lines[1:-1] if line.strip()]
    if deep and min(deep) > 8:
        lines = [lines[0]] + ["    " + line.strip() for line in lines[1:-1]] + [lines[-1]]
    return "\n".join(lines)


def reference(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    body = text[text.index('extern "C" {') :]
    body = body[body.index("#endif") + len("#endif") : body.rindex("#ifdef __cplusplus")]
    print(heading(os.path.basename(path), "-"))
    print(words(re.search(r"/\*.*?\*/", text, re.S).group(0)))
    waiting, held = [], None  # comments for the next declaration; the last declaration with its comments
    end = 0
    for match in PIECE.finditer(body):
        piece, behind = match.group(0), "\n" not in body[end : match.start()]
        title = re.match(r"/\* (?:----|====) (.*?) [-=]+ ?\*/", piece)
        if piece.startswith("/*") and not title and behind and held:
            held[1].append(piece)
        else:
            if held:
                declare(*held)
            held = None
            if title:
                print(heading(plain(title.group(1)), "~"))
            elif piece.startswith("/*"):
                waiting.append(piece)
            else:
                held, waiting = (piece, waiting), []
        end = match.end()
    if held:
        declare(*held)


def main():
    print(heading("The C library", "="))
    print("Link with ``pkg-config --cflags --libs neuropmd`` (figures and pages: ``neuropmd-draw``) or CMake's\n"
          "``find_package(neuropmd)``. This page is made from the comments of the headers.\n")
    for path in sys.argv[1:]:
        reference(path)


main()
