"""All tests, in pieces, two at a time: much of what they do is waiting. `make test` is this, and `make test-fast` with `-m "not slow"`.

A piece is a pytest of its own, and what it says is printed when it has ended, with what took longest in it. Folders that no piece names
belong to the last one, so that none is forgotten. Words on the command line are given to every piece:
`python tests/side_by_side.py --collect-only -q`.

A few tests that failed are run again, at most twice, when all is over and the machine is quiet. What passes then is named UNSTEADY in the last
lines: a defect to be looked into, of the test or of what it tests, but no reason to turn a change away (docs/decisions/0009).
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent
AT_A_TIME = 2
# The longest first, and small ones at the end: then both cores have work until the end.
PIECES = {
    "engines": ["node", "ssh", "slurm", "agent", "ray", "faults", "kubernetes"],
    "server": ["server"],
    "stories": ["stories"],
    "studio": ["studio"],
    "keeper": ["record", "engine", "mlflow"],
    "work": ["tune", "serve", "pipeline"],
    "sdk": ["sdk", "azureml", "bring"],
    "modules": ["tabular", "vision", "data"],
    "cli": ["cli", "client"],
}
REST = "the rest"
AGAIN = 2  # times that failed tests are run again
FEW = 5  # failed tests in all; more than that is no accident
NO_TESTS = 5  # pytest's code for it: what `-k` names may be in another piece


def main() -> int:
    with tempfile.TemporaryDirectory() as memory:
        ended = all_pieces(Path(memory))
        failed = {name: tests for name in ended if (tests := failed_tests(Path(memory) / name))}
        unsteady: list[str] = []
        if 0 < sum(len(tests) for tests in failed.values()) <= FEW:
            for name, tests in failed.items():
                # 1: tests failed; anything else is not for them to mend
                if ended[name][0] == 1 and pass_again(name, Path(memory) / name):
                    ended[name] = (0, *ended[name][1:])
                    unsteady += tests
    print("\n===== all pieces")
    for name, (code, said, took_s) in ended.items():
        print(f"{'ok    ' if code == 0 else 'FAILED'} {name}, {took_s / 60:.1f} min: {said.strip('= ')}")
    for test in unsteady:
        print(f"UNSTEADY {test}: failed, and passed when it was run again")
    return 0 if len(ended) == len(pieces()) and not any(code for code, _, _ in ended.values()) else 1


def pass_again(name: str, memory: Path) -> bool:
    """Whether all that failed in this piece has passed in one of the further tries."""
    for _ in range(AGAIN):
        tests = failed_tests(memory)
        code, text, _ = run(pieces()[name], memory, ["--last-failed"])
        print(f"\n===== {name}, once more: {' '.join(tests)}\n{text}", flush=True)
        if code == 0:
            return True
    return False


def all_pieces(memory: Path) -> dict[str, tuple[int, str, float]]:
    """By name: exit code, last line, seconds. pytest remembers in a folder of that name which tests failed."""
    waiting: queue.Queue[tuple[str, list[str]]] = queue.Queue()
    for name, paths in pieces().items():
        waiting.put((name, paths))
    ended: dict[str, tuple[int, str, float]] = {}
    printing = threading.Lock()

    def work() -> None:
        while True:
            try:
                name, paths = waiting.get_nowait()
            except queue.Empty:
                return
            code, text, took_s = run(paths, memory / name, [])
            with printing:
                ended[name] = (code, last_line(text), took_s)
                print(f"\n===== {name}: {' '.join(paths)}\n{text}", flush=True)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(AT_A_TIME)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def pieces() -> dict[str, list[str]]:
    """Every folder and every file of tests, in exactly one piece."""
    named = {folder for folders in PIECES.values() for folder in folders}
    found = sorted(p for p in TESTS.iterdir() if (p.is_dir() and any(p.rglob("test_*.py"))) or p.match("test_*.py"))
    missing = named - {p.name for p in found}
    if missing:
        raise SystemExit(f"tests/side_by_side.py names folders that are not there: {', '.join(sorted(missing))}")
    rest = [f"tests/{p.name}" for p in found if p.name not in named]
    named_ones = {name: [f"tests/{folder}" for folder in folders] for name, folders in PIECES.items()}
    return {**named_ones, REST: rest}


def run(paths: list[str], memory: Path, words: list[str]) -> tuple[int, str, float]:
    """One piece: exit code, all that it said, and how long it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={memory}", "--durations=40", "--durations-min=2"]
        command += [*words, *sys.argv[1:], *paths]
        code = subprocess.run(command, cwd=TESTS.parent, stdout=out, stderr=out, check=False).returncode
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    return 0 if code == NO_TESTS and sys.argv[1:] else code, text, time.monotonic() - start


def failed_tests(memory: Path) -> list[str]:
    try:
        return list(json.loads((memory / "v" / "cache" / "lastfailed").read_text()))
    except FileNotFoundError:
        return []


def last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1]


if __name__ == "__main__":
    sys.exit(main())
