#!/usr/bin/env python3
"""rooms.py BUILD [--check | --draw FILE.svg]: who knows whom among the folders of the source.

An include is read from the sources, a call from the symbols of the object files in BUILD. --check (a test) fails on a
cycle of either, on a call that no include announces, on headers and folders that have grown too large, on two files of
one name, and on what the inside must not do. --draw writes the picture of docs/architecture.md.

The folders of libneuropmd-draw know libneuropmd as the program does, by its public header, which is the folder api's; and
of its other folders only those that hold no handles.
"""
import collections
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER_LINES = 250
FOLDER_LINES = 4000
MAY_BE_LARGE = {"backends", "surface"}
SUFFIXES = (".c", ".h", ".cu", ".cuh")
PROGRAM = ("console", "experiments", "bench", "cli")
PUBLIC = {"neuropmd.h": ["api"], "neuropmd-surfaces.h": ["api"], "neuropmd-draw.h": ["plot", "view"]}  # what the program knows by public headers
DRAW = ("draw", "look", "figures", "brain", "plot", "view")  # of libneuropmd-draw, and what they may know beside each other:
DRAW_KNOWS = ("core", "json", "io", "surface", "tracts", "api")


def folders():
    """{name: path} of all folders with C sources, those of the library first."""
    found = {os.path.basename(p.rstrip("/")): p for p in sorted(glob.glob(os.path.join(ROOT, "src", "*", "")))}
    for name in PROGRAM:
        if os.path.isdir(os.path.join(ROOT, name)):
            found[name] = os.path.join(ROOT, name, "")
    return found


def sources(path):
    return sorted(f for f in glob.glob(os.path.join(path, "*")) if f.endswith(SUFFIXES))


def includes(rooms):
    """Edges (room, room it includes a header of)."""
    home = {os.path.basename(f): room for room, path in rooms.items() for f in sources(path)}
    edges = collections.defaultdict(int)
    for room, path in rooms.items():
        public = PUBLIC if room in PROGRAM else {k: v for k, v in PUBLIC.items() if v == ["api"]} if room in DRAW else {}
        for file in sources(path):
            with open(file, encoding="utf-8") as source:
                text = source.read()
            found = [os.path.basename(name) for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)]
            if os.path.basename(file) == "main.c":  # the list of commands, each in a file of its own
                found += [f"cmd_{name}.c" for name in re.findall(r"^ +X\((\w+)\)", text, re.M)]
            for name in found:
                for other in public.get(name, [home[name]] if name in home else []):
                    if other != room and other in rooms:
                        edges[room, other] += 1
    return edges


def room_of_object(path, rooms):
    parts = path.split(os.sep)
    for i, part in enumerate(parts):
        if part == "src" and i + 1 < len(parts) and parts[i + 1] in rooms:
            source = os.path.join(ROOT, *parts[i:])[:-len(".o")]
            return parts[i + 1] if os.path.exists(source) else None  # an earlier build may have left it
        if part in PROGRAM and part in rooms and i + 2 == len(parts):
            return part
    return None


def calls(build, rooms):
    """Edges (room, room whose symbols its objects ask for): how many symbols."""
    home, wanted = {}, collections.defaultdict(set)
    for path in glob.glob(os.path.join(build, "**", "*.o"), recursive=True):
        room = room_of_object(os.path.relpath(path, build), rooms)
        if room is None:
            continue
        for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
            field = line.split()
            if len(field) == 3 and field[1] in "TDRBVW":
                home[field[2]] = room
            elif len(field) == 2 and field[0] == "U":
                wanted[room].add(field[1])
    edges = collections.defaultdict(set)
    for room, names in wanted.items():
        for name in names:
            if name in home and home[name] != room:
                edges[room, home[name]].add(name)
    return edges


def cycle(edges):
    """Some rooms that know each other in a circle, or None."""
    left = set(edges)
    while left:
        from_, to = {a for a, b in left}, {b for a, b in left}
        rest = {(a, b) for a, b in left if a in to and b in from_}  # the others can be in no circle
        if rest == left:
            a, path = next(iter(left))[0], []
            while a not in path:
                path.append(a)
                a = next(c for b, c in left if b == a)
            return path[path.index(a):] + [a]
        left = rest
    return None


def order(rooms, edges):
    """Rooms from left to right: each right of all that it knows."""
    depth = {}

    def place(room):
        if room not in depth:
            depth[room] = 0
            depth[room] = 1 + max([place(b) for a, b in edges if a == room], default=-1)
        return depth[room]

    for room in rooms:
        place(room)
    return depth


def reduced(edges):
    """Without the arrows that others imply."""
    knows = collections.defaultdict(set)
    for a, b in edges:
        knows[a].add(b)

    def reaches(a, b, seen):
        return any(c == b or (c not in seen and reaches(c, b, seen | {c})) for c in knows[a])

    return {(a, b) for a, b in edges if not any(c != b and reaches(c, b, {c}) for c in knows[a])}


def lines_of(path):
    return sum(len(open(f, encoding="utf-8").read().splitlines()) for f in sources(path))


def check(build, rooms):
    wrong = []
    known, called = includes(rooms), calls(build, rooms)
    for what, edges in (("include", known), ("call", called)):
        found = cycle(edges)
        if found:
            wrong.append(f"a cycle of {what}s: {' -> '.join(found)}")
    depth = order(rooms, known) if not cycle(known) else {}
    for (a, b), names in sorted(called.items()):
        if depth and depth[b] >= depth[a]:
            wrong.append(f"{a} calls {b}, which is not to its left: {', '.join(sorted(names)[:3])}")
    for (a, b), names in sorted(called.items()):
        if a in DRAW and b not in DRAW + DRAW_KNOWS:
            wrong.append(f"{a} looks into {b}: {', '.join(sorted(names)[:3])}")
        if b in DRAW and a not in DRAW + PROGRAM:
            wrong.append(f"{a} of the library needs {b}, which draws: {', '.join(sorted(names)[:3])}")
        if a in DRAW and b == "api" and any(not name.startswith("npmd_") for name in names):
            wrong.append(f"{a} calls what of {b} is not public")
    if not called:
        wrong.append(f"{build} holds no objects: calls were not checked")
    names = collections.Counter()
    for room, path in rooms.items():
        library = os.path.dirname(path.rstrip("/")).endswith("src")
        for file in sources(path):
            names[os.path.basename(file)] += 1
            count = len(open(file, encoding="utf-8").read().splitlines())
            if file.endswith(".h") and count > HEADER_LINES:
                wrong.append(f"{os.path.relpath(file, ROOT)} has {count} lines, a header {HEADER_LINES} at most")
        if library and room not in MAY_BE_LARGE and lines_of(path) > FOLDER_LINES:
            wrong.append(f"src/{room} has {lines_of(path)} lines, a folder {FOLDER_LINES} at most")
    for name, count in names.items():
        if count > 1:
            wrong.append(f"{count} files are called {name}")
    for room, path in rooms.items():
        if not os.path.dirname(path.rstrip("/")).endswith("src") or room == "api" or room in DRAW:
            continue
        for file in sources(path):
            for i, line in enumerate(open(file, encoding="utf-8"), 1):
                if re.search(r"\bnpmd_(?!fail\b|status\b|error\b)[a-z_]+\s*\(", line):
                    wrong.append(f"{os.path.relpath(file, ROOT)}:{i}: the inside calls a public function")
    for text in wrong:
        print(text)
    print(f"{len(rooms)} folders, {len(known)} pairs that include, {len(called)} that call: "
          + ("in order" if not wrong else f"{len(wrong)} things are wrong"))
    return 1 if wrong else 0


def draw(rooms, path):
    """From the program at the top to what knows nothing at the bottom; an arrow goes to what is known."""
    edges = reduced(includes(rooms))
    depth = order(rooms, includes(rooms))
    rows = collections.defaultdict(list)
    for room in rooms:
        rows[max(depth.values()) - depth[room]].append(room)
    width, height, gap_x, gap_y = 96, 34, 44, 22
    groups = [[r for r in rooms if r in DRAW], [r for r in rooms if r not in DRAW + PROGRAM], [r for r in rooms if r in PROGRAM]]
    lanes = [max(sum(r in group for r in row) for row in rows.values()) for group in groups]  # side by side: one for each group
    across = sum(lanes)
    place = {}
    for y, row in sorted(rows.items()):
        for group, first, count in zip(groups, (0, lanes[0], lanes[0] + lanes[1]), lanes):
            here = [room for room in row if room in group]
            for x, room in enumerate(here):
                lane = first + (count - len(here)) / 2 + x
                place[room] = (20 + lane * (width + gap_x), 20 + y * (height + gap_y))
    total = (40 + across * (width + gap_x) - gap_x, 40 + len(rows) * (height + gap_y) - gap_y)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total[0]:.0f} {total[1]:.0f}" '
           f'width="{total[0]:.0f}" height="{total[1]:.0f}" font-family="sans-serif">',
           '<title>Folders of the source, and which each of them knows</title>',
           '<defs><marker id="a" markerWidth="7" markerHeight="6" refX="6" refY="3" orient="auto">'
           '<path d="M0,0 L7,3 L0,6 z" fill="#667"/></marker></defs>',
           f'<rect width="{total[0]:.0f}" height="{total[1]:.0f}" fill="white"/>']
    for a, b in sorted(edges):
        (x1, y1), (x2, y2) = place[a], place[b]
        x1, y1, x2 = x1 + width / 2, y1 + height, x2 + width / 2
        bend = max(gap_y, (y2 - y1) / 2)
        out.append(f'<path d="M{x1:.0f},{y1:.0f} C{x1:.0f},{y1 + bend:.0f} {x2:.0f},{y2 - bend:.0f} {x2:.0f},{y2:.0f}" '
                   'fill="none" stroke="#99a" marker-end="url(#a)"/>')
    for room, (x, y) in sorted(place.items()):
        colour = "#f6efe2" if room in PROGRAM else "#e9f3e6" if room in DRAW else "#e8eef6"
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width}" height="{height}" rx="5" fill="{colour}" stroke="#556"/>')
        out.append(f'<text x="{x + width / 2:.0f}" y="{y + 15:.0f}" font-size="12" text-anchor="middle">{room}</text>')
        out.append(f'<text x="{x + width / 2:.0f}" y="{y + 28:.0f}" font-size="9" text-anchor="middle" fill="#556">'
                   f'{lines_of(rooms[room]):,} lines</text>')
    out.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("--check", "--draw"):
        sys.exit(__doc__)
    rooms = folders()
    if sys.argv[2] == "--check":
        sys.exit(check(sys.argv[1], rooms))
    draw(rooms, sys.argv[3])


main()
