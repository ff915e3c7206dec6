"""Whether an interpreter's torch works, and its torchvision with it. Asked there, never imported here."""

from __future__ import annotations

import json
import subprocess

from rookery.cli.verdict import INFO, MISSING, OK, Check

__all__ = ["check_torch"]

TIMEOUT_S = 120
# Runs on any Python from 3.6 on. torchvision fits when its compiled operator `nms` exists after the import.
_QUESTION = """
import json
answer = {}
try:
    import torch
    answer["torch"] = torch.__version__
    answer["cuda"] = torch.version.cuda
    answer["gpus"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
except ImportError as error:
    answer["no_torch"] = str(error)
else:
    try:
        import torchvision
        answer["torchvision"] = torchvision.__version__
        torch.ops.torchvision.nms
    except ImportError as error:
        answer["no_torchvision"] = str(error)
    except Exception as error:
        answer["mismatch"] = str(error).splitlines()[0]
try:
    from importlib.metadata import version
    answer.setdefault("torchvision", version("torchvision"))
except Exception:
    pass
print(json.dumps(answer))
"""


def check_torch(python: str) -> list[Check]:
    """A check for torch and one for torchvision."""
    try:
        done = subprocess.run([python, "-c", _QUESTION], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return [
            Check(
                "torch",
                MISSING,
                f"{python} could not be asked: {type(error).__name__}",
                f"{python} -c 'import torch'",
            )
        ]
    if "no_torch" in answer:
        return [Check("torch", MISSING, f"not in {python}", f"{python} -m pip install torch torchvision")]
    built = f"built for CUDA {answer['cuda']}, {answer['gpus']} GPUs usable" if answer["cuda"] else "CPU build"
    return [Check("torch", OK, f"{answer['torch']}, {built}"), _torchvision(python, answer)]


def _torchvision(python: str, answer: dict[str, str]) -> Check:
    found = answer.get("torchvision", "")
    if "mismatch" in answer:
        text = (
            f"{found} does not fit torch {answer['torch']} ({answer['mismatch']}). "
            "Inside a run models and transforms work all the same; "
            "its own operators (nms, detection models, decode_*) do not"
        )
        return Check(
            "torchvision",
            MISSING,
            text,
            f"{python} -m pip install --force-reinstall torchvision, from the index that torch came from",
        )
    if "no_torchvision" in answer:
        return Check("torchvision", INFO, f"not in {python}; for: pictures", f"{python} -m pip install torchvision")
    return Check("torchvision", OK, f"{found}, fits torch")
