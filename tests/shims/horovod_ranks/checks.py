"""What the scripts in this folder share: runs every `check_…` of a script and writes what each said. Python 3.6."""

import json
import sys
import traceback

__all__ = ["raises", "run_checks"]


def run_checks(namespace):
    """A check that fails is recorded; the next ones go on where all ranks failed alike."""
    results = {}
    for name, check in list(namespace.items()):
        if name.startswith("check_"):
            try:
                check()
                results[name] = None
            except Exception:
                results[name] = traceback.format_exc()
            with open(sys.argv[1], "w") as f:
                json.dump(results, f)


def raises(kind, words, call, *args, **kwargs):
    said = "nothing"
    try:
        call(*args, **kwargs)
    except kind as error:
        said = str(error)
    assert words in said, f"expected {kind.__name__} with {words!r}, got: {said}"
