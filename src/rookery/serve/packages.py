"""Model.package: a folder that `docker build` makes an image of, which scores with the same program."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from typing import Any

from rookery.engine.payload import ensure_payload
from rookery.record import Record
from rookery.serve.asked import DEFAULTS, check_what
from rookery.serve.launch import choose_environment, packages_of
from rookery.serve.layout import MODELS, lay_out, model_dir
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import EnvironmentSpec

__all__ = ["make_package"]

APP = "/var/azureml-app"
PORT = 5001
_README = """# A packaged model

`docker build -t NAME .` and `docker run -p 5001:5001 NAME`, then POST to http://localhost:5001/score.

`app/` is the working folder of the service (source and models), `scoring/` the program that calls `init()` and `run()`, `offered/` the
packages that it gives to scripts whose environment lacks them.
"""


def make_package(record: Record, paths: WorkspacePaths, body: dict[str, Any]) -> bytes:
    """The folder as a zip.

    Raises:
        EndpointError, ModelNotFoundError, UserError: as for a deployment.
    """
    what = check_what(record, body.get("models"), body.get("inference"))
    spec = choose_environment(record, what)
    payload = ensure_payload(paths)
    os.makedirs(paths.serve, mode=0o700, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=".package-", dir=paths.serve)
    try:
        app = os.path.join(folder, "app")
        lay_out(record, what, app)
        files = {
            "Dockerfile": _dockerfile(what, spec),
            "README.md": _README,
            **_requirements(spec, what),
        }
        return _zip(app, payload, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _dockerfile(what: dict[str, Any], spec: EnvironmentSpec) -> str:
    python = "3.11"
    for line in (spec.conda or {}).get("dependencies", []):
        if isinstance(line, str) and line.replace(" ", "").startswith("python="):
            python = ".".join(line.replace(" ", "").partition("=")[2].strip("=").split(".")[:2])
    scoring: dict[str, Any] = {"service": "service", "max_batch": 1, "batch_wait_ms": DEFAULTS["batch_wait_ms"]}
    inference = what["inference"]
    if inference is not None:
        scoring["script"] = "/".join(p for p in (APP, inference["source_name"], inference["entry_script"]) if p)
    else:
        scoring.update(no_code=what["no_code"], model_dir=model_dir(APP, what))
    return "\n".join(
        [
            f"FROM python:{python}-slim",
            "COPY requirements.txt /tmp/requirements.txt",
            "RUN pip install --no-cache-dir -r /tmp/requirements.txt",
            "COPY scoring /opt/rookery/scoring",
            "COPY offered /opt/rookery/offered",
            f"COPY app {APP}",
            f"WORKDIR {APP}",
            "ENV PYTHONPATH=/opt/rookery/scoring ROOKERY_OFFERED=/opt/rookery/offered PYTHONUNBUFFERED=1",
            f"ENV AML_APP_ROOT={APP} AZUREML_MODEL_DIR={model_dir(APP, what) if what['models'] else f'{APP}/{MODELS}'}",
            f"ENV ROOKERY_SCORING='{json.dumps(scoring)}'",
            *(f"ENV {name}={json.dumps(value)}" for name, value in sorted(spec.variables.items())),
            f"EXPOSE {PORT}",
            f'CMD ["python", "-m", "_rookery_scoring", "--http", "{PORT}"]',
            "",
        ]
    )


def _requirements(spec: EnvironmentSpec, what: dict[str, Any]) -> dict[str, str]:
    """pip's part of the environment; conda's own file beside it, where it has more."""
    pip: list[str] = []
    other: list[str] = []
    for one in (spec.conda or {}).get("dependencies", []):
        if isinstance(one, dict):
            pip += [str(line) for line in one.get("pip", [])]
        elif not str(one).replace(" ", "").startswith(("python", "pip")):
            other.append(str(one))
    if spec.conda is None and what["no_code"]:
        pip = list(packages_of(what["no_code"]))
    files = {"requirements.txt": "".join(f"{line}\n" for line in [*pip, *other])}
    if spec.conda is not None:
        files["conda.json"] = json.dumps(spec.conda, indent=1)
    return files


def _zip(app: str, payload: str, files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
        first = os.path.join(payload, "first")
        for name in sorted(os.listdir(first)):
            if name == "_rookery_scoring":
                _add(packed, os.path.join(first, name), "scoring/_rookery_scoring")
            elif name in ("_rookery_offer.py", "_rookery_torchvision_hook.py"):
                packed.write(os.path.join(first, name), f"scoring/{name}")
        _add(packed, os.path.join(payload, "offered"), "offered")
        _add(packed, app, "app")
    return made.getvalue()


def _add(packed: zipfile.ZipFile, folder: str, name: str) -> None:
    for here, folders, found in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for file in sorted(found):
            full = os.path.join(here, file)
            packed.write(full, f"{name}/{os.path.relpath(full, folder)}")
