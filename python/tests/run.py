"""Runs the tests in this folder, or those named, and counts them in the last line: "N passed, N failed, N skipped".

The package is that of the source tree beside it, unless NEUROPMD_INSTALLED is set: then the one that Python finds.
"""
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
if not os.environ.get("NEUROPMD_INSTALLED"):
    sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))


def main() -> int:
    loader = unittest.TestLoader()
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("test_*.py"))
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(loader.loadTestsFromNames(names))
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    for reason in sorted({reason for _, reason in result.skipped}):
        print(f"skipped: {reason}")
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
