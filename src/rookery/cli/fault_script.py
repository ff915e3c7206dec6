"""What `rookery faults demo` submits: two ranks that work together, until one of them goes wrong in the way it is told.

Runs as a script in the run's own process, standard library only.
"""

import ctypes
import os
import signal
import socket
import sys
import time

STEPS = 200


class Group:
    """Two ranks that meet at every step, as those of a real training do."""

    def __init__(self, rank: int) -> None:
        address = "\0rookery-faults-" + os.environ["ROOKERY_ATTEMPT_KEY"]
        if rank == 0:
            server = socket.socket(socket.AF_UNIX)
            server.bind(address)
            server.listen(1)
            self.peer = server.accept()[0]
        else:
            self.peer = socket.socket(socket.AF_UNIX)
            while self.peer.connect_ex(address):
                time.sleep(0.02)

    def all_reduce(self) -> None:
        try:
            self.peer.sendall(b"x")
            if self.peer.recv(1):
                return
        except OSError:
            pass
        raise RuntimeError("[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]")


def run_out_of_memory() -> None:
    bytearray(1 << 62)


def crash() -> None:
    ctypes.string_at(0)


def import_what_is_not_there() -> None:
    __import__("segmentation_models")


def bind_a_taken_port() -> None:
    first, second = socket.socket(), socket.socket()
    first.bind(("127.0.0.1", 0))
    first.listen(1)
    second.bind(first.getsockname())


def ask_for_nccl() -> None:
    # What torch says to init_process_group("nccl"); in its words, because the demo needs no torch.
    raise RuntimeError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")


def fill_the_disk() -> None:
    with open("/dev/full", "w") as file:
        file.write("checkpoint" * 10000)


def kill_by_hand() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def read_data_that_never_comes() -> None:
    time.sleep(600)


FAULTS = {
    "out_of_memory": run_out_of_memory,
    "segmentation_fault": crash,
    "missing_module": import_what_is_not_there,
    "port_in_use": bind_a_taken_port,
    "nccl_without_cuda": ask_for_nccl,
    "disk_full": fill_the_disk,
    "killed": kill_by_hand,
    "stalled": read_data_that_never_comes,
}


def main() -> None:
    fault, rank = sys.argv[1], int(os.environ["RANK"])
    group = Group(rank)
    for step in range(STEPS):
        group.all_reduce()
        if step < 3 or fault == "time_limit":
            print("step", step, flush=True)
        if step == 3 and rank == 1:
            if fault == "different_code_paths":
                return
            FAULTS.get(fault, lambda: None)()
        time.sleep(0.1 if step > 3 else 0)


if __name__ == "__main__":
    main()
