"""A rank that goes wrong in one way, in step 3, if it is the one: FAULT, FAULT_RANK. All others would go on for a minute."""

import argparse
import atexit
import ctypes
import os
import signal
import socket
import sys
import time

from fake_collective import Group

FAULT, FAULTY = os.environ["FAULT"], int(os.environ["FAULT_RANK"])
RANK = int(os.environ.get("RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0")
WORLD = int(os.environ.get("WORLD_SIZE") or os.environ.get("OMPI_COMM_WORLD_SIZE") or "1")


def port_in_use():
    first, second = socket.socket(), socket.socket()
    first.bind(("127.0.0.1", 0))
    first.listen(1)
    second.bind(first.getsockname())


def disk_full():
    with open("/dev/full", "w") as file:
        file.write("x" * 100000)


def wrong_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.parse_args([])


def slow_death(group):
    """Peers are told first: as by `finally: destroy_process_group()`."""
    try:
        raise ValueError("bad label")
    finally:
        group.close()
        time.sleep(0.05)


def slow_exit(group):
    """Peers lose it while it is on its way out: as when a process group takes its time to be destroyed."""
    atexit.register(time.sleep, 1.0)
    atexit.register(group.close)
    raise ValueError("bad label")


def say(kind, text):
    def fault():
        raise kind(text)

    return fault


def crash_in_compiled_code():
    ctypes.string_at(0)


def stuck_in_loading():
    time.sleep(60)


FAULTS = {
    "exception": say(RuntimeError, "bad shape (3, 4)"),
    "exit_code": lambda: sys.exit(3),
    "exit_text": lambda: sys.exit("no data"),
    "os_exit": lambda: os._exit(4),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminated": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "interrupted": lambda: os.kill(os.getpid(), signal.SIGINT),
    "segmentation_fault": crash_in_compiled_code,
    "aborted": os.abort,
    "missing_module": lambda: __import__("no_such_module_here"),
    "out_of_memory": lambda: bytearray(1 << 62),
    "gpu_out_of_memory": say(RuntimeError, "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.80 GiB total)"),
    "disk_full": disk_full,
    "port_in_use": port_in_use,
    "nccl_without_cuda": say(RuntimeError, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!"),
    "nccl_setup": say(RuntimeError, "NCCL error in: ProcessGroupNCCL.cpp:1269, internal error, ncclInternalError"),
    "collective_mismatch": say(
        RuntimeError, "Detected mismatch between collectives on ranks. Rank 1 is running collective: ALLREDUCE"
    ),
    "file_not_found": lambda: os.stat("no/such/data.csv"),
    "permission": say(PermissionError, "[Errno 13] Permission denied: '/data/set'"),
    "wrong_arguments": wrong_arguments,
    "shared_library": say(ImportError, "libGL.so.1: cannot open shared object file: No such file or directory"),
    "torch_misfit": say(RuntimeError, "operator torchvision::nms does not exist"),
    "time_limit": lambda: None,
    "stalled": stuck_in_loading,
}
SLOW = {"slow_death": slow_death, "slow_exit": slow_exit}


def main():
    if os.environ.get("STUBBORN"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    group = Group(os.environ["GROUP_PATH"], RANK, WORLD)
    for step in range(600):
        group.all_reduce()
        print("step", step, flush=FAULT != "stalled" or step < 4)
        if step == 3 and RANK == FAULTY:
            if FAULT == "early_end":
                return
            SLOW[FAULT](group) if FAULT in SLOW else FAULTS[FAULT]()
        time.sleep(0.1 if step > 3 else 0.0)


main()
