"""Everything in _header.py against what a compiler makes of the headers: constants, fields of structs, prototypes.

The compiler is asked in C++, which can say what a type is: a small program prints the names of the types of all fields
and functions, and the same names are spelled here from ctypes' types. Enumerations are ints there, and const means
nothing.
"""
import ctypes
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from neuropmd import _header
from support import SOURCE

COMPILER = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
INCLUDE = SOURCE / "include"
CONSTANTS = {name: value for name, value in vars(_header).items() if name.startswith("NPMD_")}
STRUCTS = {name: value for name, value in vars(_header).items()
           if name.startswith("npmd_") and isinstance(value, type) and issubclass(value, ctypes.Structure)}
FUNCTIONS = {**{name: (ctypes.c_int, [*takes, ctypes.POINTER(_header.npmd_error)])
                for name, takes in {**_header.FALLIBLE, **_header.DRAW_FALLIBLE}.items()},
             **_header.PLAIN, **_header.DRAW_PLAIN}
NAMES = {None: "void", ctypes.c_char: "char", ctypes.c_int: "int", ctypes.c_uint: "unsigned int",
         ctypes.c_double: "double", ctypes.c_int64: "long", ctypes.c_uint64: "unsigned long",
         ctypes.c_size_t: "unsigned long", ctypes.c_char_p: "char*", ctypes.c_void_p: "void*"}


def fields(struct):
    """All of them, the size that comes first among them."""
    inherited = struct.__base__._fields_ if issubclass(struct, _header.Sized) else []
    return [*inherited, *struct._fields_]


def spelled(kind):
    """The C name of a type of ctypes."""
    if kind in NAMES:
        return NAMES[kind]
    if hasattr(kind, "_dtype_"):  # of an array of numpy's
        return {"float64": "double*"}[kind._dtype_.name]
    if issubclass(kind, ctypes.Array):
        return f"{spelled(kind._type_)}[{kind._length_}]"
    if issubclass(kind, ctypes.c_void_p):
        return f"{kind.__name__}*"
    if issubclass(kind, ctypes.Structure):
        return kind.__name__
    if issubclass(kind, ctypes._Pointer):
        return f"{spelled(kind._type_)}*"
    return prototype(kind._restype_, kind._argtypes_, "(*)")  # of a callback


def prototype(gives, takes, between=""):
    return f"{spelled(gives)}{between}({','.join(map(spelled, takes))})"


@unittest.skipUnless(COMPILER and INCLUDE.is_dir(), "no C++ compiler was found, or this is no source tree")
class Header(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = "".join(path.read_text() for path in sorted(INCLUDE.glob("*.h")))
        cls.text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        lines = [f'number("{name}", {name});' for name in CONSTANTS]
        lines += [f'number("{name}", sizeof({name}));' for name in STRUCTS]
        for name, struct in STRUCTS.items():
            for field, *_ in fields(struct):
                lines.append(f'number("{name}.{field}", offsetof({name}, {field}));')
                lines.append(f'type("{name}.{field}", typeid(decltype({name}::{field})));')
        lines += [f'type("{name}", typeid({name}));' for name in FUNCTIONS]
        program = """#include "neuropmd-draw.h"
            #include <cstdio>
            #include <cxxabi.h>
            #include <typeinfo>
            static void number(const char *name, long is) { std::printf("number %s=%ld\\n", name, is); }
            static void type(const char *name, const std::type_info &is)
            { std::printf("type %s=%s\\n", name, abi::__cxa_demangle(is.name(), nullptr, nullptr, nullptr)); }
            int main() {""" + "\n".join(lines) + "}"
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder) / "types.cc", Path(folder) / "types"
            source.write_text(program)
            subprocess.run([COMPILER, "-O0", f"-I{INCLUDE}", "-o", made, source], check=True)
            said = subprocess.run([made], check=True, capture_output=True, text=True).stdout
        cls.numbers = {name: int(value) for name, value in re.findall("^number (.*?)=(.*)$", said, re.M)}
        cls.types = {name: cls.plain(value) for name, value in re.findall("^type (.*?)=(.*)$", said, re.M)}

    @classmethod
    def plain(cls, text):
        """A compiler's name of a type without const and blanks; the name of an enumeration is int."""
        text = re.sub(r"\b(" + "|".join(re.findall(r"enum (npmd_\w+)", cls.text)) + r")\b", "int", text)
        return re.sub(r" ?\bconst\b|(?<=\W) | (?=\W)", "", text).replace("long long", "long")

    def same(self, name, found):
        """A pointer that is always NULL, or the address of an array, is a void * here."""
        expected = self.types[name]
        pattern = re.escape(found).replace(r"void\*", r"[^,()]*\*")
        self.assertRegex(expected, f"^{pattern}$", name)

    def test_constants(self):
        self.assertEqual({name: self.numbers[name] for name in CONSTANTS}, CONSTANTS)

    def test_structs(self):
        for name, struct in STRUCTS.items():
            with self.subTest(name):
                body = re.search(rf"struct {name} \{{(.*?)\}}", self.text, re.S)[1]
                self.assertEqual(re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", body), [field for field, *_ in fields(struct)])
                self.assertEqual(ctypes.sizeof(struct), self.numbers[name])
                for field, kind in fields(struct):
                    self.assertEqual(getattr(struct, field).offset, self.numbers[f"{name}.{field}"], field)
                    self.same(f"{name}.{field}", spelled(kind))

    def test_prototypes(self):
        for name, (gives, takes) in FUNCTIONS.items():
            with self.subTest(name):
                self.same(name, prototype(gives, takes))

    def test_a_difference_is_seen(self):
        """The comparison itself: one argument that is an int and no unsigned, or another object."""
        gives, takes = FUNCTIONS["npmd_domain_part"]
        for other in ([takes[0], ctypes.c_int, *takes[2:]], [_header.npmd_points, *takes[1:]], takes[:-1]):
            with self.assertRaises(AssertionError):
                self.same("npmd_domain_part", prototype(gives, other))


if __name__ == "__main__":
    unittest.main()
