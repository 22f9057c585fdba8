"""setup_brain.py - the files that a user of the streamline pages has, in small: two hemispheres, their registered spheres,
labels, a tractogram in two formats with weights. Written into the current folder, with the standard library alone.

A hemisphere is an icosphere of 162 vertices, pressed into an ellipsoid of the size of a brain; its sphere has radius 100, as
FreeSurfer's; streamlines join vertices of the hemispheres by straight lines."""

import gzip
import math
import random
import struct

REGIONS = ("medialorbitofrontal", "cuneus", "lingual")


def icosphere(times):
    """Vertices of unit length and faces, counterclockwise from outside."""
    g = (1 + math.sqrt(5)) / 2
    vertices = [unit(v) for v in ((-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
                                  (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1))]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
             (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(times):
        middle, finer = {}, []
        for a, b, c in faces:
            ab, bc, ca = (halve(vertices, middle, *edge) for edge in ((a, b), (b, c), (c, a)))
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = finer
    return vertices, faces


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return tuple(x / length for x in v)


def halve(vertices, middle, a, b):
    key = (min(a, b), max(a, b))
    if key not in middle:
        middle[key] = len(vertices)
        vertices.append(unit(tuple(x + y for x, y in zip(vertices[a], vertices[b]))))
    return middle[key]


def write_gifti(path, vertices, faces):
    def array(intent, kind, rows):
        text = "\n".join(" ".join(str(x) for x in row) for row in rows)
        return (f'<DataArray Intent="{intent}" DataType="{kind}" ArrayIndexingOrder="RowMajorOrder" Dimensionality="2" '
                f'Dim0="{len(rows)}" Dim1="3" Encoding="ASCII" Endian="LittleEndian"><Data>{text}</Data></DataArray>\n')

    with open(path, "w") as file:
        file.write('<?xml version="1.0"?>\n<GIFTI Version="1.0" NumberOfDataArrays="2">\n'
                   + array("NIFTI_INTENT_POINTSET", "NIFTI_TYPE_FLOAT32", vertices)
                   + array("NIFTI_INTENT_TRIANGLE", "NIFTI_TYPE_INT32", faces) + "</GIFTI>\n")


def write_off(path, vertices, faces):
    with open(path, "w") as file:
        file.write(f"OFF\n{len(vertices)} {len(faces)} 0\n")
        file.writelines(f"{x} {y} {z}\n" for x, y, z in vertices)
        file.writelines(f"3 {a} {b} {c}\n" for a, b, c in faces)


def write_annot(path, region):
    """FreeSurfer's annotation: big-endian; (vertex, colour) pairs, then a colour table of version 2."""
    colour = [20 + k + (30 << 8) + (40 << 16) for k in range(len(REGIONS))]
    with open(path, "wb") as file:
        file.write(struct.pack(">i", len(region)))
        for vertex, k in enumerate(region):
            file.write(struct.pack(">ii", vertex, colour[k]))
        file.write(struct.pack(">iii", 1, -2, len(REGIONS)) + struct.pack(">i", 5) + b"none\0" + struct.pack(">i", len(REGIONS)))
        for k, name in enumerate(REGIONS):
            text = name.encode() + b"\0"
            file.write(struct.pack(">ii", k, len(text)) + text + struct.pack(">iiii", 20 + k, 30, 40, 0))


def write_tck(path, lines):
    header = f"mrtrix tracks\ndatatype: Float32LE\ncount: {len(lines)}\nfile: . 0000\nEND\n"
    while len(header) != int(header.split("file: . ")[1].split()[0]):
        header = f"mrtrix tracks\ndatatype: Float32LE\ncount: {len(lines)}\nfile: . {len(header):04d}\nEND\n"
    with open(path, "wb") as file:
        file.write(header.encode())
        for line in lines:
            for point in line:
                file.write(struct.pack("<3f", *point))
            file.write(struct.pack("<3f", math.nan, math.nan, math.nan))
        file.write(struct.pack("<3f", math.inf, math.inf, math.inf))


def write_trk(path, lines):
    """TrackVis 2: voxels of 1 mm, 200 along each axis, whose first has its centre at -100 mm, so that x_file = x + 100.5."""
    affine = [1, 0, 0, -100, 0, 1, 0, -100, 0, 0, 1, -100, 0, 0, 0, 1]
    header = struct.pack("<6s3h3f3fh200sh200s16f444s4s4s6f2s6Biii", b"TRACK", 200, 200, 200, 1, 1, 1, 0, 0, 0, 0, b"", 0, b"",
                         *affine, b"", b"RAS", b"", 1, 0, 0, 0, 1, 0, b"", 0, 0, 0, 0, 0, 0, len(lines), 2, 1000)
    with gzip.open(path, "wb") as file:
        file.write(header)
        for line in lines:
            file.write(struct.pack("<i", len(line)) + b"".join(struct.pack("<3f", *(x + 100.5 for x in p)) for p in line))


def main():
    random.seed(1)
    vertices, faces = icosphere(2)
    region = [0 if v[1] > 0.5 else 1 if v[2] > 0 else 2 for v in vertices]
    white = {}
    for side, shift in (("lh", -32.0), ("rh", 32.0)):
        white[side] = [(30 * x + shift, 70 * y, 50 * z) for x, y, z in vertices]
        write_gifti(f"{side}.white.gii", white[side], faces)
        write_gifti(f"{side}.sphere.reg.gii", [(100 * x, 100 * y, 100 * z) for x, y, z in vertices], faces)
        write_annot(f"{side}.aparc.annot", region)
    write_off("ico4.off", vertices, faces)
    lines = []
    for _ in range(400):
        a, b = random.choice(white[random.choice(("lh", "lh", "rh"))]), random.choice(white[random.choice(("lh", "lh", "rh"))])
        lines.append([tuple(p + (q - p) * t / 4 for p, q in zip(a, b)) for t in range(5)])
    write_tck("brain.tck", lines)
    write_trk("brain.trk.gz", lines)
    with open("sift2.txt", "w") as file:
        file.write(" ".join(f"{random.uniform(0.5, 2):.3f}" for _ in lines) + "\n")


main()
