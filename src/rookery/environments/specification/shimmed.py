"""Requirements that Rookery itself meets: the azureml packages and horovod.

The originals talk to a service that is gone, pin half of PyPI, or need MPI and a compiler. A run finds
Rookery's own `azureml` and
`horovod` instead. Whoever wants an original names it in the setting `original_packages`.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from rookery.environments.specification.requirement import Requirement, normal_name
from rookery.environments.specification.wanted import Wanted

__all__ = ["is_shimmed", "without_shimmed"]

# What people get through an azureml package and import by its own name.
BROUGHT = {
    "azureml-mlflow": ("mlflow-skinny",),
    "azureml-dataset-runtime": ("pandas",),
}


def is_shimmed(name: str, originals: tuple[str, ...] = ()) -> bool:
    """Whether Rookery meets this requirement itself."""
    name = normal_name(name)
    if any(fnmatchcase(name, pattern) for pattern in originals):
        return False
    return name == "horovod" or name == "azureml" or name.startswith("azureml-")


def without_shimmed(wanted: Wanted, originals: tuple[str, ...] = ()) -> Wanted:
    """The same wish without them, each noted. A conda dependency of that name counts too."""
    kept: list[Requirement] = []
    notes: list[str] = []
    names = {normal_name(r.name) for r in wanted.pip}
    for one in wanted.pip:
        if not is_shimmed(one.name, originals):
            kept.append(one)
            continue
        notes.append(_note(one.text))
        for brought in BROUGHT.get(normal_name(one.name), ()):
            if brought not in names and not (brought == "mlflow-skinny" and "mlflow" in names):
                names.add(brought)
                kept.append(Requirement(brought, marker=one.marker))
    conda = tuple(d for d in wanted.conda if not is_shimmed(d.name, originals))
    notes += [_note(d.text) for d in wanted.conda if d not in conda]
    # A lock without them is still whole: what only they needed does no harm.
    return replace(wanted, pip=tuple(kept), conda=conda, notes=wanted.notes + tuple(notes))


def _note(text: str) -> str:
    return f"{text} is met by Rookery's own package. For the original, name it in the setting original_packages."
