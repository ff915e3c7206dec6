"""Runs inside a built environment and imports what it was asked for. Python 3.6, standard library only,
nothing of Rookery.

    python -I import_probe.py RESULTS HOOK NAME…

RESULTS gets one JSON line before and one after each import, so that a crash shows what crashed. HOOK is the
path of the torchvision
hook that every run has; NAME is a distribution's normal name.
"""

import json
import os
import re
import sys
import sysconfig
import time

SKIPPED = {
    "test",
    "tests",
    "testing",
    "doc",
    "docs",
    "example",
    "examples",
    "benchmark",
    "benchmarks",
    "bin",
    "share",
    "scripts",
    "tools",
    "build",
}
MAX_MODULES = 4


def main(results, hook, names):
    hook_module = load_hook(hook)
    found = distributions()
    with open(results, "a") as out:

        def tell(**values):
            out.write(json.dumps(values) + "\n")
            out.flush()

        for name in names:
            if name not in found:
                tell(name=name, state="absent")
                continue
            modules = modules_of(found[name], name)
            if not modules:
                tell(name=name, state="nothing")
            for module in modules:
                tell(name=name, module=module, state="trying")
                began = time.time()
                try:
                    __import__(module)
                except BaseException as error:  # an import may even call sys.exit
                    tell(
                        name=name,
                        module=module,
                        state="failed",
                        kind=type(error).__name__,
                        text=str(error)[:1000],
                        missing=getattr(error, "name", None) if isinstance(error, ImportError) else None,
                    )
                else:
                    version = getattr(sys.modules.get(module), "__version__", None)
                    tell(
                        name=name,
                        module=module,
                        state="ok",
                        seconds=time.time() - began,
                        version=str(version or ""),
                    )
        if getattr(hook_module, "_kept", None):
            tell(state="torchvision_hook")


def load_hook(path):
    import importlib.util

    if not path or not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location("rookery_torchvision_hook", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install()
    return module


def distributions():
    """Normal name → its metadata folder or file."""
    found = {}
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in sorted(os.listdir(folder)):
            if entry.endswith((".dist-info", ".egg-info")):
                stem = re.sub(r"\.(dist|egg)-info$", "", entry)
                found[re.sub(r"[-_.]+", "-", stem.split("-")[0]).lower()] = os.path.join(folder, entry)
    return found


def modules_of(info, name):
    """Import names of a distribution: one named like it alone, else its public top-level packages and
    modules.
    """
    listed = []
    record = os.path.join(info, "RECORD")
    if os.path.exists(record):
        with open(record, encoding="utf-8", errors="replace") as f:
            listed = modules_in([line.split(",")[0].strip('"') for line in f])
    elif os.path.exists(os.path.join(info, "top_level.txt")):
        with open(os.path.join(info, "top_level.txt")) as f:
            listed = [line.strip() for line in f if line.strip()]
    public = [m for m in listed if not m.startswith("_") and m.split(".")[0].lower() not in SKIPPED]
    same = [m for m in public if re.sub(r"[-_.]+", "-", m).lower() == name]
    return same or public[:MAX_MODULES]


def modules_in(paths):
    packages, modules = set(), set()
    for path in paths:
        parts = path.split("/")
        if parts[0] in ("..", "") or not all(p.isidentifier() for p in parts[:-1]):
            continue
        if parts[-1] == "__init__.py" and len(parts) > 1:
            packages.add(tuple(parts[:-1]))
        elif len(parts) == 1:
            stem = re.match(r"([A-Za-z]\w*)(\.py|\.[\w.-]*\.so|\.so)$", parts[0])
            if stem:
                modules.add(stem.group(1))
    # The shortest package of each branch: google/protobuf, where google itself is only a namespace.
    tops = [p for p in packages if not any(p[:i] in packages for i in range(1, len(p)))]
    return sorted(modules) + sorted(".".join(p) for p in tops)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
