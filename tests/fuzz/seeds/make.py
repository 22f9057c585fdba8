"""make.py PROGRAM - writes the seeds of this folder: small files of every kind, the models by the program itself."""
import base64
import glob
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
program = os.path.abspath(sys.argv[1])


def put(target, name, data):
    os.makedirs(os.path.join(here, target), exist_ok=True)
    with open(os.path.join(here, target, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def run(*words):
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)


# ---- text
put("csv", "plain.csv", "1,2.5\n-3,4e2\n")
put("csv", "header.csv", '\ufeff"angle, first";y # words\n1;2\n\n# comment\n  .5 ; -0e-3\n')
put("csv", "blanks.txt", "  1  2.5 \r\n-3 \t 4e2\r")
put("csv", "bad.csv", "1\tnan\n-inf\t1e999\n\"1")
put("csv", "one.csv.gz", gzip.compress(b"1,2.5\n", 9, mtime=0))
put("csv", "two.csv.gz", gzip.compress(b"1,2.5\n", 9, mtime=0) + gzip.compress(b"-3,4e2\n", 0, mtime=0))


# ---- .npy
def npy(name, version, header, data=b""):
    start = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header))
    put("npy", name, start + header.encode() + data)


npy("f8.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", np.arange(6.0).tobytes())
npy("f4.npy", 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }", np.arange(3, dtype="f4").tobytes())
npy("cube.npy", 3, "{'shape':(1L,2,1),'fortran_order':False,'descr':\"<f8\"}", np.array([1.0, np.nan]).tobytes())
npy("huge.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 2), }")

# ---- .mat: the fixtures, and plain ones that the target compresses
fixtures = os.path.join(here, "..", "..", "fixtures", "mat")
os.makedirs(os.path.join(here, "mat"), exist_ok=True)
for name in ("one.mat", "one_zipped.mat", "packed.mat", "big_endian.mat", "version4.mat"):
    shutil.copy(os.path.join(fixtures, name), os.path.join(here, "mat", name))
for name in ("packed.mat", "big_endian.mat"):
    data = bytearray(open(os.path.join(fixtures, name), "rb").read())
    data[116] = 1
    put("mat", "compressed_" + name, bytes(data))

# ---- named arrays, in the parts that the target puts together, and whole
empty = '{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"I32","shape":[0,3],"data_offsets":[16,16]}}'
put("safetensors", "parts", b"{}\0" + empty.encode() + b"\0" + bytes(16))
whole = b'{"__metadata__":{"neuropmd":"{}"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}'
put("safetensors", "whole", struct.pack("<Q", len(whole)) + whole + bytes(4))
put("safetensors", "long", struct.pack("<Q", 2**60) + whole)

# ---- compressed files; the first byte is the size of pieces less 1
put("gzip", "one", b"\4" + gzip.compress(bytes(range(64)) * 8, 9, mtime=0))
put("gzip", "two", b"\x3f" + gzip.compress(b"1,2\n" * 40, 9, mtime=0) + gzip.compress(b"3,4\n", 0, mtime=0))
put("gzip", "plain", b"\0plain text")
put("gzip", "no_gzip", b"\1plain text")
put("gzip", "cut", b"\4" + gzip.compress(bytes(range(64)) * 8, 9, mtime=0)[:-9])

# ---- integers, surfaces (a tetrahedron) and labels
npy("i4.npy", 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", np.array([1, -1, 7], "<i4").tobytes())
npy("u1.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1), }", bytes([1, 2, 255]))
corner = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
face = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])


def rows(a, before=""):
    return "".join(before + " ".join(str(v) for v in row) + "\n" for row in a)


put("obj", "plain.obj", rows(corner, "v ") + rows(face + 1, "f "))
put("obj", "relative.obj", "# slashes\nvn 0 0 1\n" + rows(corner, "v ") + "f -4/1/1 -3//1 -2/1\ng a\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
hole = rows(corner, "v ") + rows(face[:3] + 1, "f ")
put("obj", "hole.obj", hole)
put("obj", "two.obj", rows(np.vstack([corner, corner + 5]), "v ") + rows(np.vstack([face, face + 4]) + 1, "f "))
put("obj", "flipped.obj", rows(corner, "v ") + rows(np.vstack([face[:3], face[3:, ::-1]]) + 1, "f "))
put("obj", "twice.obj", rows(corner, "v ") + rows(np.vstack([face, face[:1]]) + 1, "f "))
put("obj", "unused.obj", rows(np.vstack([corner, corner[:1] + 3]), "v ") + rows(face + 1, "f "))
put("obj", "same_place.obj", rows(np.vstack([corner[:3], corner[:1]]), "v ") + rows(face + 1, "f "))
put("obj", "pinched.obj", rows(np.vstack([corner, corner[1:] * -2]), "v ")
    + rows(np.vstack([face, np.where(face == 0, 0, face + 3)]) + 1, "f "))
put("off", "plain.off", "OFF\n4 4 0\n" + rows(corner) + rows(face, "3 "))
put("off", "colours.off", "COFF 4 4 6 # counts\n" + rows(np.hstack([corner, corner])) + rows(face, "3 "))
header = ("ply\nformat %s 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty double y\nproperty short z\n"
          "property list uchar char n\nelement face 4\nproperty list uchar uint vertex_indices\nend_header\n")
put("ply", "text.ply", header % "ascii" + rows(np.hstack([corner, 0 * corner[:, :1]])) + rows(face, "3 "))
for order, name in ("<", "little"), (">", "big"):
    put("ply", name + ".ply", (header % ("binary_%s_endian" % name)).encode()
        + b"".join(struct.pack(order + "fdhBb", *v, 1, 5) for v in corner)
        + b"".join(struct.pack(order + "B3I", 3, *f) for f in face))
start = "# vtk DataFile Version %s\ntitle\n%s\nDATASET POLYDATA\n"
put("vtk", "text.vtk", start % ("3.0", "ASCII") + "FIELD f 1\nt 1 2 int\n5 6\nPOINTS 4 float\n" + rows(corner)
    + "LINES 1 3\n2 0 1\nPOLYGONS 4 16\n" + rows(face, "3 ") + "POINT_DATA 4\n")
put("vtk", "text5.vtk", start % ("5.1", "ASCII") + "POINTS 4 double\n" + rows(corner) + "METADATA\nINFORMATION 0\n\nPOLYGONS 5 12\n"
    "OFFSETS vtktypeint64\n0 3 6 9 12\nCONNECTIVITY vtktypeint64\n" + rows(face))
put("vtk", "binary.vtk", (start % ("3.0", "BINARY") + "POINTS 4 float\n").encode() + corner.astype(">f4").tobytes()
    + b"\nPOLYGONS 4 16\n" + np.hstack([np.full((4, 1), 3), face]).astype(">i4").tobytes() + b"\n")
put("vtk", "binary5.vtk", (start % ("5.1", "BINARY") + "POINTS 4 double\n").encode() + corner.astype(">f8").tobytes()
    + b"\nPOLYGONS 5 12\nOFFSETS vtktypeint64\n" + np.arange(0, 15, 3).astype(">i8").tobytes()
    + b"\nCONNECTIVITY vtktypeint64\n" + face.astype(">i8").tobytes() + b"\n")
put("freesurfer", "lh.white", b"\xff\xff\xfecreated by\n\n" + struct.pack(">ii", 4, 4) + corner.astype(">f4").tobytes()
    + face.astype(">i4").tobytes())


def gifti(encoding, *arrays, table="", order="RowMajorOrder"):
    text = '<?xml version="1.0"?>\n<!DOCTYPE GIFTI SYSTEM "g.dtd">\n<GIFTI Version="1.0"><LabelTable>%s</LabelTable>' % table
    for intent, a in arrays:
        raw = (a if order == "RowMajorOrder" else a.T).tobytes()
        data = " ".join(str(v) for v in a.ravel()) if encoding == "ASCII" else base64.b64encode(
            zlib.compress(raw) if encoding == "GZipBase64Binary" else raw).decode()
        text += ('<DataArray Intent="NIFTI_INTENT_%s" DataType="NIFTI_TYPE_%s" ArrayIndexingOrder="%s" Dimensionality="%d" '
                 'Dim0="%d" Dim1="%d" Encoding="%s" Endian="LittleEndian"><Data>%s</Data></DataArray>'
                 % (intent, "INT32" if a.dtype.kind == "i" else "FLOAT32", order, a.ndim, a.shape[0], a.size // a.shape[0],
                    encoding, data))
    return text + "</GIFTI>\n"


surface = (("POINTSET", corner.astype("<f4")), ("TRIANGLE", face.astype("<i4")))
for encoding in "ASCII", "Base64Binary", "GZipBase64Binary":
    put("gifti", encoding, gifti(encoding, *surface))
put("gifti", "columns", gifti("Base64Binary", *surface, order="ColumnMajorOrder"))
put("gifti", "entity", '<!DOCTYPE G [<!ENTITY a "b">]><GIFTI>&a;</GIFTI>')


def named(text):
    return struct.pack(">i", len(text) + 1) + text + b"\0"


entries = [named(n) + struct.pack(">4i", *c) for n, c in ((b"unknown", (25, 5, 25, 0)), (b"a", (3, 2, 1, 0)))]
vertices = struct.pack(">7i", 3, 0, 66051, 1, 1639705, 2, 0)
put("labels", "annot1", b"\0\2" + vertices + struct.pack(">ii", 1, 2) + named(b"t") + b"".join(entries))
put("labels", "annot2", b"\0\2" + vertices + struct.pack(">3i", 1, -2, 9) + named(b"t") + struct.pack(">i", 2)
    + b"".join(struct.pack(">i", i) + e for i, e in enumerate(entries)))
put("labels", "label", b"\1\2#!ascii label\n2\n1 0 0 0 0.5\n2 1 2 3 0\n")
put("labels", "numbers", b"\2\2label\n3\n-1\n3\n")
put("labels", "names", b'\2\2vertex,label\n2,"a, b"\n0,c\n1,\n')
integers = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"
put("labels", "npy", b"\4\2\x93NUMPY\1\0" + struct.pack("<H", len(integers)) + integers.encode() + np.array([1, -1, 7], "<i4").tobytes())
put("labels", "by_name.csv", b"\5\2vertex,label\n2,a\n0,c\n1,\n")
put("labels", "gifti", "\3\2" + gifti("ASCII", ("LABEL", np.array([7, 0, 7], "<i4")),
                                      table='<Label Key="0">???</Label><Label Key="7">a &amp; b</Label>'))

# ---- values on vertices
put("values", "gifti", "\0\2" + gifti("Base64Binary", ("NONE", np.array([0.5, -1.0, 2.0], "<f4"))))
put("values", "text.vtk", "\1\3" + start % ("3.0", "ASCII") + "POINTS 4 float\n" + rows(corner) + "POLYGONS 4 16\n"
    + rows(np.insert(face, 0, 3, 1)) + "POINT_DATA 4\nSCALARS a%20b double 1\nLOOKUP_TABLE default\n1 2 3 4\n"
    "VECTORS v float\n" + "0 0 1\n" * 4 + "FIELD FieldData 1\nc 1 4 float\n5 6 7 8\nCELL_DATA 4\nSCALARS d int\n"
    "LOOKUP_TABLE default\n1 2 3 4\n")
put("values", "binary.vtk", b"\1\3" + (start % ("3.0", "BINARY") + "POINTS 4 float\n").encode() + corner.astype(">f4").tobytes()
    + b"\nPOLYGONS 4 16\n" + np.insert(face, 0, 3, 1).astype(">i4").tobytes() + b"\nPOINT_DATA 4\nSCALARS a float 1\n"
    b"LOOKUP_TABLE default\n" + np.arange(4).astype(">f4").tobytes() + b"\n")

floats = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
put("values", "v.npy", b"\7\2\x93NUMPY\1\0" + struct.pack("<H", len(floats)) + floats.encode() + np.arange(6.0).tobytes())
put("values", "v.csv", b"\6\2a,b\n1,2\n3,4\n5,6\n")
put("values", "v.gii", "\4\2" + gifti("Base64Binary", ("NONE", np.array([0.5, -1.0, 2.0], "<f4"))))
put("values", "more.vtk", "\5\3" + start % ("3.0", "ASCII") + "POINTS 4 float\n" + rows(corner) + "VERTICES 1 2\n1 0\nPOLYGONS 4 16\n"
    + rows(np.insert(face, 0, 3, 1)) + "POINT_DATA 4\nCOLOR_SCALARS c 3\n" + "0 0.5 1\n" * 4 + "NORMALS n float\n" + "0 0 1\n" * 4
    + "TEXTURE_COORDINATES t 2 float\n" + "0 1\n" * 4 + "LOOKUP_TABLE l 2\n0 0 0 1\n1 1 1 1\nTENSORS s float\n"
    + "1 0 0 0 1 0 0 0 1\n" * 4 + "FIELD f 2\na 1 4 int\n1 2 3 4\nb 1 2 float\n1 2\n")
put("values", "strips.vtk", "\5\3" + start % ("5.1", "ASCII") + "POINTS 4 float\n" + rows(corner) + "METADATA\nCOMPONENT_NAMES\n\n"
    "LINES 2 2\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY vtktypeint64\n0 1\nPOLYGONS 5 12\nOFFSETS vtktypeint64\n0 3 6 9 12\n"
    "CONNECTIVITY vtktypeint64\n" + rows(face) + "POINT_DATA 4\nSCALARS a double\nLOOKUP_TABLE default\n1 2 3 4\n")

# ---- models: as parts, which the targets put together, and four whole files
def parts(path):
    model = open(path, "rb").read()
    (length,) = struct.unpack("<Q", model[:8])
    header = json.loads(model[8 : 8 + length])
    facts = header.pop("__metadata__")["neuropmd"]
    return facts.encode() + b"\0" + json.dumps(header, separators=(",", ":")).encode() + b"\0" + model[8 + length :]


def spoilt(name, model, tensor=None, number=None, at=-1, **facts):
    """A model of 0.1.0 that is refused late: one number of a tensor is another, or some facts are."""
    bytes_ = parts(os.path.join(here, "..", "..", "old", model + ".safetensors"))
    text, header, data = bytes_.split(b"\0", 2)
    if tensor is not None:
        t = json.loads(header)[tensor]
        kind = np.dtype({"F64": "<f8", "I32": "<i4"}[t["dtype"]])
        first, last = t["data_offsets"]
        numbers = np.frombuffer(data[first:last], kind).copy()
        numbers[at] = number
        data = data[:first] + numbers.tobytes() + data[last:]
    said = json.loads(text)
    for key, value in facts.items():
        (said["options"] if key in said["options"] else said)[key] = value
    put("model", "spoilt_" + name, json.dumps(said).encode() + b"\0" + header + b"\0" + data)


spoilt("family", "psnf_t2", "W", np.nan)
spoilt("series", "series_t2", "series.coefficients", np.inf)
spoilt("certificate", "series_t2", "series.certificate", np.nan)
spoilt("frequency", "series_t2", **{"max-frequency": [0, 2]})
spoilt("block", "field_s2s1", "encoding.block", 33)
spoilt("blocks", "field_s2s1", "encoding.block", 1)
spoilt("rotation", "field_s2s1", "encoding.rotation", 2.0)
spoilt("function", "field_s2s1", "encoding.function", 0)
spoilt("beyond", "field_t2", "encoding.function", 1000)
spoilt("law", "field_t3_ridge", "encoding.ridge", 7.0, 0)
spoilt("scale", "field_t3_ridge", "encoding.scale", 7.0)
spoilt("both", "field_s2s1", **{"spectrum-law": "ridge"})
weights = json.loads(parts(os.path.join(here, "..", "..", "old", "members_t2.safetensors")).split(b"\0")[0])["parts"]
spoilt("weights", "members_t2", parts=[{**part, "weight": 0.4} for part in weights])

SMALL = ["--steps", "3", "--batch", "20", "--q1", "32", "--q2", "16", "--width", "2", "--depth", "2", "--features", "2",
         "--max-frequency", "2", "--tau", "1e-3", "--quiet"]
for path in sorted(glob.glob(os.path.join(here, "..", "..", "old", "*.safetensors"))): # every kind of 0.1.0
    put("model", "old_" + os.path.basename(path)[: -len(".safetensors")], parts(path))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run("simulate", "t2", "--authors", "--n", "40", "--seed", "1", "--out", "t2.csv", "--truth", "t2.json")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 3))
    x = np.hstack([x / np.linalg.norm(x, axis=1, keepdims=True), rng.uniform(0, 6, (40, 1))])
    np.savetxt("s2s1.csv", x, delimiter=",")
    for name, domain, data, whole, more in (
            ("t2", "S1^2", "t2.csv", True, []), ("s2s1", "S2 x S1", "s2s1.csv", True, ["--skip", "off"]),
            ("members", "S1^2", "t2.csv", True, ["--members", "2"]),
            ("stack", "S1^2", "t2.csv", True, ["--estimator", "stack", "--members", "2"]),
            ("base_kernels", "S1^2", "t2.csv", False, ["--base", "kde"]),
            ("base_series", "S2 x S1", "s2s1.csv", False, ["--base", "series"]),
            ("base_model", "S1^2", "t2.csv", False, ["--base", "members"]),
            ("stop", "S1^2", "t2.csv", False, ["--stop", "ise"])):
        run("fit", "--domain", domain, "--data", data, "--out", name, *SMALL, *more)
        put("model", name, parts(name))
        if whole:
            put("model", name + ".safetensors", open(name, "rb").read())

    # one that says how it was chosen
    facts, rest = parts("t2").split(b"\0", 1)
    row = {"stage": 1, "steps": 3, "tau": 1e-3, "criterion": 1.5, "criterion_se": 0.1, "difference": 0.2, "difference_se": 0.1,
           "kept": True, "settings": "width=2"}
    facts = {**json.loads(facts), "choice": {
        "criterion": "likelihood", "training": 30, "held_out": 10,
        "rows": [row, {**row, "tau": 1e-2, "kept": False, "difference": None}, {**row, "stage": 2}],
        "rivals": [{"estimator": "series", "nll": 1.0, "nll_se": 0.1, "difference": -0.1, "difference_se": 0.1}]}}
    put("model", "choice", json.dumps(facts).encode() + b"\0" + rest)

    # ---- checkpoints of the fits of fuzz_checkpoint.c, ended; the first byte is the kind of the fit
    np.savetxt("angles.csv", 0.25 * np.arange(24), fmt="%.17g")
    for kind, more in enumerate((["--tau", "1e-3"], ["--tau", "1e-3", "--stop", "ise"], ["--tau", "1e-3", "--stop", "snr"],
                                 ["--tau", "auto"], ["--tau", "1e-3", "--members", "2"])):
        run("fit", "--domain", "S1", "--data", "angles.csv", "--out", "m", "--checkpoint", "state%d" % kind,
            "--steps", "6", "--batch", "12", "--q1", "16", "--q2", "8", "--width", "2", "--depth", "2", "--features", "2",
            "--omega", "5", "--threads", "1", "--convex-gap", "off", "--accuracy", "1", "--max-frequency", "1", "--quiet",
            "--checkpoint-every", "0.001", *more)
        put("checkpoint", "kind%d" % kind, bytes([kind]) + parts("state%d" % kind))

    # ---- known densities
    put("truth", "t2.json", open("t2.json").read())
mixture = {"domain": "S1^2", "kind": "wrapped normal mixture", "weights": [1], "means": [[1, 2]],
           "covariances": [[[0.3, 0.1], [0.1, 0.2]]], "measure": "volume"}
put("truth", "normal.json", json.dumps(mixture))
mixture = {"domain": "S2 x S1", "kind": "von Mises-Fisher mixture", "weights": [0.5, 0.5],
           "means": [[0, 0, 1, 0.5], [1, 0, 0, 3.5]], "kappas": [[4, 2], [0, 1e3]]}
put("truth", "fisher.json", json.dumps(mixture))
mixture = {"domain": "S1^2", "kind": "shapes", "components": [
    {"weight": 0.2, "shape": "uniform"}, {"weight": 0.2, "shape": "kernel", "mean": [1, 2], "kappa": [0, 9]},
    {"weight": 0.2, "shape": "normal", "mean": [1, 2], "covariance": [[0.3, 0.1], [0.1, 0.2]]},
    {"weight": 0.2, "shape": "ridge", "along": 1, "across": 2, "amplitude": 1, "frequency": 2, "slope": 1, "kappa": 30},
    {"weight": 0.2, "shape": "box", "factors": [2], "lower": [5], "upper": [7]}]}
put("truth", "shapes.json", json.dumps(mixture))
mixture = {"domain": "S2", "kind": "shapes", "components": [
    {"weight": 1, "shape": "ring", "factor": 1, "axis": [0, 0.6, 0.8], "height": 0.3, "width": 0.1}]}
put("truth", "ring.json", json.dumps(mixture))

grid = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }"
put("truth", "grid.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(grid)) + grid.encode() + (1.0 + np.arange(12.0)).tobytes())
put("truth", "mesh.json", json.dumps({"domain": "mesh:nowhere.off", "kind": "shapes", "components": [
    {"weight": 1, "shape": "uniform"}]}))

# ---- streamlines
def trk(name, order="<", version=2, scalars=0, properties=0, count=2, voxel_order=b"RAS"):
    matrix = np.eye(4) if version == 2 else np.zeros((4, 4))
    header = b"TRACK\0" + struct.pack(order + "3h6fh", 4, 5, 6, 1, 2, 1, 0, 0, 0, scalars) + bytes(200)
    header += struct.pack(order + "h", properties) + bytes(200) + struct.pack(order + "16f", *matrix.ravel()) + bytes(444)
    header += voxel_order.ljust(4, b"\0") + bytes(36) + struct.pack(order + "3i", count, version, 1000)
    for points in (2, 1):
        numbers = np.arange(points * (3 + scalars) + properties, dtype=order + "f4")
        header += struct.pack(order + "i", points) + numbers.tobytes()
    put("trk", name, header)


trk("plain.trk")
trk("big.trk", order=">", scalars=1, properties=2, count=0, voxel_order=b"PSL")
trk("one.trk", version=1, voxel_order=b"")
for kind in ("Float32LE", "Float32BE", "Float64LE", "Float64BE"):
    numbers = np.array([[1, 2, 3], [4, 5, 6], [np.nan] * 3, [np.nan] * 3, [np.inf] * 3])
    start = f"mrtrix tracks\ndatatype: {kind}\ncount: 2\n" + ("file: . 80\n" if kind[-2:] == "BE" else "") + "END\n"
    data = numbers.astype((">" if kind[-2:] == "BE" else "<") + "f" + ("4" if "32" in kind else "8")).tobytes()
    put("tck", kind + ".tck", start.encode().ljust(80 if kind[-2:] == "BE" else 0, b"\0") + data)

# ---- what plot reads: the log of a fit, results of experiments, a matrix with names, partners of a region
step = {"step": 1, "epoch": 1, "rate": 0.1, "data": 0, "integral": 1, "penalty": 2, "objective": 1.5, "snr_a": 3, "snr_b": 2,
        "snr_c": 1, "ae": 1, "nise": 0.5, "ise": -1}


def lines(name, *rows):
    put("plotted", name, "l" + "".join(json.dumps(row) + "\n" for row in rows))


lines("fit", step, {**step, "step": 2, "epoch": 2, "ae": 0.5}, {**step, "step": 1}, {**step, "step": 2, "objective": -1e9})
profile = [[1, 1, 0.1, 1, 0.8, 1.6], [2, 2, 0.2, 0.9, 0.5, 1.2]]
lines("profiles", *({"experiment": "encodings", "domain": d, "replicate": r, "method": m, "settings": "best", "profile": profile}
                    for d in ("T2", "T4") for r in (1, 2) for m in ("field", "sum")))
lines("learning", {"experiment": "spectral-bias", "domain": "T2", "replicate": 1, "method": "field", "settings": "best",
                   "profile": profile, "spectrum": [[1, 0, 0, 1, 1], [1, 1, -2, 0.1, 0.2], [2, 0, 0, 1, 1]]})
lines("courses", *({"experiment": "tau", "domain": "T2", "replicate": 1, "method": str(t), "tau": t, "course": [
    [1, 1, -0.98, 0.01, -0.98, 0.9], [2, 2, -0.99, 0.01, -0.985, 0.8]]} for t in (1e-6, 1e-3)))
lines("diagnostics", {"experiment": "diagnostics", "domain": "T2", "replicate": 1, "method": "a", "settings": "b", "course": [
    [1, 1, 0.1, 1, 0.8, 0.7, -1, 0.1, 5, 4, 3], [2, 2, 0.2, 1, 0.6, 0.5, -1.1, 0.1, 4, 3, 2]]})
put("plotted", "matrix", 'm"",a,"b, c",d\nx,1,2.5e-3,0\n"y ""z""",-1,4,1e9\n')
put("plotted", "numbers", "m1,2\n3,4\n")
put("plotted", "partners", "ppair,x,y,z,vertex,region\n1,0.5,0.5,0.1,0,a\n2,0,0,1,5,\n")

# ---- JSON
put("json", "all.json", '{"null": null, "yes": [true, false], "numbers": [0, -0, -12, 9223372036854775807, 5.0, -1.5e-7, 1E+22, 5e-324],\n'
    ' "texts": ["", "\\"\\\\\\/\\b\\f\\n\\r\\t", "caf\\u00e9 \\ud83d\\ude00 \u20ac \ufffd \x7f"], "": {"a": [[], [{}]]}}')
put("json", "keys.json", json.dumps({f"key {i}": i for i in range(20)}))

# ---- options
put("options_file", "some.json", '{"preset": "quick", "steps": 5000, "tau": 5e-5, "max-frequency": [3, 4], "skip": "on"}')
put("options_file", "paper.json", '{"preset": "paper-t4", "rate": 1e-3, "schedule": "cosine", "seed": 18446744073709551615}')
put("options_set", "some", "preset=paper-t2\nsteps=100\ntau=auto\nmax-frequency=3,4\nskip=off\nseed=7\nrate=1e-3\n")
put("options_set", "bad", "steps=-1\ntau=nan\nmax-frequency=,\nseed=1e30\nwidth=99999999999999\ndevice=cuda:0\nx=\n")
for i, text in enumerate(("S1^2", "T4", "s2*S2 x S1^3", "S1 x", 'mesh:"a b.gii"^2', "T99")):
    put("domain", str(i + 1), text)
