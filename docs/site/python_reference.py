"""python_reference.py FOLDER - the page of the Python reference, on stdout: what to import, by Sphinx's autodoc from docstrings.

The names are those of the package's __all__, read without importing it, so that the page can say that there is no package."""

import ast
import os
import sys

from rst import heading


def public(path):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
            return [ast.literal_eval(e) for e in node.value.elts]
    return []


def main():
    path = os.path.join(sys.argv[1], "__init__.py")
    print(heading("The Python package", "="))
    if not os.path.exists(path):
        print("This source tree holds no Python package.\n")
        return
    print(".. automodule:: neuropmd\n   :no-members:\n")
    for name in public(path):
        kind = "autoclass" if name[:1].isupper() else "autofunction"
        if name.startswith("_") or name.isupper() and len(name) > 4:
            continue
        print(f".. {kind}:: neuropmd.{name}")
        if kind == "autoclass":
            print("   :members:\n   :inherited-members:\n   :show-inheritance:")
        print()


main()
