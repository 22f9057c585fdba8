"""python_reference.py FOLDER - the page of the Python reference, on stdout: what Sphinx's autodoc shall take from docstrings.

The names are those of the package's __all__, read without importing it. Estimators share their methods, so these are shown
once, for the class that all of them are made from."""

import ast
import os
import sys

from rst import heading


def parsed(path):
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


def public(folder):
    for node in parsed(os.path.join(folder, "__init__.py")).body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
            return [ast.literal_eval(e) for e in node.value.elts]
    return []


def bases(folder):
    """Class: the names of what it is made from."""
    found = {}
    for name in os.listdir(folder):
        if name.endswith(".py"):
            for node in parsed(os.path.join(folder, name)).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name] = [getattr(b, "id", "") for b in node.bases]
    return found


def put(title, names, directive, options=""):
    if names:
        print(heading(title, "-"))
        for name in names:
            print(f".. {directive}:: neuropmd.{name}\n{options}")


def main():
    folder = sys.argv[1]
    print(heading("The Python package", "="))
    if not os.path.exists(os.path.join(folder, "__init__.py")):
        print("This source tree holds no Python package.\n")
        return
    made_from, names = bases(folder), public(folder)
    estimators = [n for n in names if "Estimator" in made_from.get(n, [])]
    failures = [n for n in names if any(b.endswith(("Error", "Warning")) for b in made_from.get(n, []))]
    shown_elsewhere = estimators + failures + ["Estimator", "Density", "Model"]
    classes = [n for n in names if n in made_from and n not in shown_elsewhere]
    everything = "   :members:\n   :inherited-members:\n"
    print(".. automodule:: neuropmd\n   :no-members:\n")
    put("Estimators", estimators, "autoclass")
    put("What every estimator does", ["Estimator"], "autoclass", everything)
    put("Domains, surfaces, known densities", classes, "autoclass", everything)
    put("Functions", [n for n in names if n not in made_from], "autofunction")
    put("Failures", failures, "autoexception")


main()
