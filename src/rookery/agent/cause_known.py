"""Faults that are recognised by their words: what each is called, how it shows, what to try. Pure data and one look-up.

The first row that fits wins, so the narrow ones come first. A row: name (docs/faults.md), pattern, advice; `{1}` in an advice is
what the pattern's first group found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

__all__ = ["NO_SCRIPT", "Known", "faults", "recognise"]

NO_SCRIPT = r"can't open file (['\"]?)(.+?)\1: \[Errno 2\]"
_PACKAGES = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "skimage": "scikit-image",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "google.protobuf": "protobuf",
}


@dataclass(frozen=True)
class Known:
    """What was recognised."""

    fault: str
    advice: str
    likely: str = ""  # put before the exception where its own words say little


def recognise(text: str, exit_code: Optional[int] = None) -> Optional[Known]:
    """The first fault whose words are in `text` (the exception, then the end of the log)."""
    for fault, pattern, likely, advice in _TABLE:
        found = re.search(pattern, text)
        if found and not (fault == "wrong_arguments" and exit_code != 2):
            return Known(fault, _fill(advice, found), likely)
    return None


def faults() -> list[str]:
    """Every name that `recognise` may give."""
    return sorted({row[0] for row in _TABLE})


def _fill(advice: str, found: re.Match[str]) -> str:
    first = found.group(found.lastindex or 0) if found.lastindex else ""
    if "{package}" in advice:
        return advice.format(first, package=_PACKAGES.get(first, first))
    return advice.format(first) if "{0}" in advice else advice


_TABLE: tuple[tuple[str, str, str, str], ...] = (
    (
        "nccl_without_cuda",
        r"(?i)ProcessGroupNCCL is only supported with GPUs|doesn't have NCCL built in|requires NCCL|No NVIDIA driver.*nccl"
        r"|Distributed package doesn't have NCCL|Tensors must be CUDA and dense",
        "The script asks for the backend 'nccl', which needs CUDA GPUs; this node has none that torch can use.",
        "Use init_process_group('gloo') on machines without CUDA, or let it choose: "
        "'nccl' if torch.cuda.is_available() else 'gloo'.",
    ),
    (
        "collective_mismatch",
        r"(?i)Detected mismatch between collectives|op\.preamble\.length <= op\.nbytes|Mismatched \w+ (?:tensor|operation|data)"
        r"|collectives? (?:are|is) running .* mismatch|ranks? .* running collective.*but rank .* running"
        r"|Expected to have finished reduction in the prior iteration|inconsistent tensor sizes?",
        "The ranks called different collectives, or the same one with different shapes: they do not run the same code path.",
        "Look for an `if rank == …` around a collective, batches of different shape per rank, and parameters that are unused "
        "on some ranks (find_unused_parameters=True).",
    ),
    (
        "nccl_setup",
        r"ncclInternalError|ncclSystemError|ncclInvalidUsage|ncclUnhandledCudaError|NCCL WARN|NCCL error"
        r"|Bootstrap : no socket interface found|NCCL_SOCKET_IFNAME",
        "NCCL could not be set up.",
        "Set NCCL_DEBUG=INFO to see why. Often: two ranks on one GPU (use LOCAL_RANK for the device), a network interface "
        "that does not lead to the other nodes (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME), or a /dev/shm that is too small.",
    ),
    (
        "collective_timeout",
        r"(?i)watchdog caught collective operation timeout|Timed out waiting \d+ms for (?:recv|send) operation"
        r"|wait timeout after \d+ms|Timed out after \d+ seconds waiting for clients|barrier.*timed? ?out",
        "A collective timed out: some rank never came to it.",
        "Set TORCH_DISTRIBUTED_DEBUG=DETAIL to see which rank is missing; a rank that took another code path or that loads data "
        "for long does this.",
    ),
    (
        "torch_misfit",
        r"operator torchvision::nms does not exist|Couldn't load custom C\+\+ ops|undefined symbol: .*(?:torch|c10|at[0-9])"
        r"|torchvision .* (?:requires|incompatible)|partially initialized module 'torchvision'",
        "torch and torchvision (or another extension of torch) were not built for one another.",
        "Ask for versions that belong together, like torch==2.2.0 with torchvision==0.17.0, or name only torchvision and let "
        "the resolver take the torch it needs.",
    ),
    (
        "shared_library",
        r"ImportError: (lib[\w.+-]+\.so[\w.]*): cannot open shared object file|(?:OSError|ImportError): .*?(lib[\w.+-]+\.so[\w.]*)"
        r"|version `(GLIBC\w*_[\d.]+)' not found|undefined symbol: (\w+)",
        "",
        "The shared library or symbol '{0}' is missing on this node. Install the system package that has it (libGL.so.1: "
        "libgl1, or use opencv-python-headless), or use an image that does.",
    ),
    (
        "missing_module",
        r"No module named '?([A-Za-z_][\w]*)",
        "",
        "The run's environment lacks '{0}'. Add {package} to it (pip_packages) and submit again.",
    ),
    (
        "wrong_arguments",
        r"(?m)^\S+: error: ((?:the following arguments are required|unrecognized arguments|argument |expected |invalid choice).*)$",
        "",
        "The script did not understand its arguments ({0}). Compare ScriptRunConfig(arguments=…) with its ArgumentParser; an "
        "option and its value are two entries of the list.",
    ),
    (
        "script_not_found",
        NO_SCRIPT,
        "",
        "Check ScriptRunConfig(source_directory=…, script=…) and the ignore file (.amlignore, .gitignore).",
    ),
    (
        "gpu_out_of_memory",
        r"(?i)CUDA out of memory|cuda\w*OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|CUDA error: out of memory",
        "",
        "The GPU's memory is full: use a smaller batch, mixed precision, or gradient accumulation.",
    ),
    (
        "loader_killed",
        r"DataLoader worker \(pid[^)]*\) (?:is killed by signal|exited unexpectedly)|unable to (?:open|write to) (?:shared memory|file </torch)",
        "A data loader worker died, most often for lack of memory or of space in /dev/shm.",
        "Use fewer workers (num_workers), or torch.multiprocessing.set_sharing_strategy('file_system').",
    ),
    (
        "out_of_memory",
        r"MemoryError|Cannot allocate memory|DefaultCPUAllocator: (?:can't|not enough)|std::bad_alloc",
        "",
        "Memory ran out: use a smaller batch or fewer data loader workers.",
    ),
    (
        "disk_full",
        r"No space left on device|Errno 28|Disk quota exceeded|Errno 122",
        "",
        "The disk is full. Free some space; /dev/shm counts too.",
    ),
    (
        "port_in_use",
        r"(?i)address already in use|EADDRINUSE|Errno 98",
        "",
        "Another process has the port: a run that is still there, or a second one on this node. Leave MASTER_PORT to "
        "Rookery, which takes a free one.",
    ),
    (
        "cuda_error",
        r"CUDA error: (device-side assert triggered|an illegal memory access|invalid device ordinal|no kernel image)",
        "",
        "CUDA: {0}. Set CUDA_LAUNCH_BLOCKING=1 to see the line; a label outside of the classes, or a device number that this "
        "node does not have, does this.",
    ),
    (
        "master_unreachable",
        r"(?i)The client socket has (?:failed|timed out)|failed to connect to .*\d+|connect\(\) timed out|No route to host",
        "A rank could not reach the master.",
        "Check MASTER_ADDR and MASTER_PORT, and that nodes can reach one another; rank 0 may not have started.",
    ),
    (
        "file_not_found",
        r"FileNotFoundError: .*?'([^'\n]+)'",
        "",
        "'{0}' is not there. Paths are relative to the snapshot's root; was the file left out by the ignore file?",
    ),
    (
        "permission",
        r"PermissionError: .*?'([^'\n]+)'",
        "",
        "'{0}' may not be used by this user. Write below ./outputs or ../.",
    ),
    (
        "permission",
        r"(?i)(\S+): Permission denied",
        "",
        "'{0}' may not be used by this user; a script that is run by its name must be executable (chmod +x).",
    ),
)
