"""What squeue and scontrol print, read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional
from urllib.parse import quote, unquote

from rookery.engine.engines.base import NodeInfo

__all__ = [
    "ENDED",
    "JOB_FORMAT",
    "End",
    "GangName",
    "SlurmJob",
    "read_jobs",
    "read_limit_s",
    "read_nodes",
    "read_partitions",
]

# One line per job; the comment and the name come last, because people may write into them.
JOB_FORMAT = "%A|%T|%r|%N|%D|%P|%j|%k"
ENDED = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    }
)
_END = re.compile(r"(\d+)=(\d+)(?::([^;]*))?")
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=")


@dataclass(frozen=True)
class GangName:
    """The name of a job: which nodes of which attempt it starts, for which target of which workspace (`owner`). How a
    job is found when the answer of sbatch was lost."""

    run_id: str
    attempt: int
    nodes: tuple[int, ...]
    owner: str

    def __str__(self) -> str:
        return f"{quote(self.run_id, safe='-_')}.{self.attempt}.{_ranges(self.nodes)}.rk{self.owner}"

    @classmethod
    def read(cls, text: str) -> Optional[GangName]:
        parts = text.rsplit(".", 3)
        if len(parts) != 4 or not parts[3].startswith("rk") or not parts[1].isdigit():
            return None
        try:
            return cls(unquote(parts[0]), int(parts[1]), _numbers(parts[2]), parts[3][2:])
        except ValueError:
            return None


@dataclass(frozen=True)
class End:
    """How the agent of one node ended, as the batch script told it."""

    code: int
    words: str = ""


@dataclass(frozen=True)
class SlurmJob:
    """A line of squeue."""

    id: int
    state: str
    reason: str
    nodelist: str
    num_nodes: str
    partition: str
    name: str
    ends: dict[int, End] = field(default_factory=dict)  # by the run's node number
    near_limit: bool = False  # the batch script had the signal that comes before the time limit

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_waiting(self) -> bool:
        return self.state in ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")


def read_jobs(text: str) -> dict[int, SlurmJob]:
    """The output of `squeue -h -o JOB_FORMAT`, by job id."""
    found = {}
    for line in text.splitlines():
        parts = line.split("|", 7)
        if len(parts) != 8 or not parts[0].isdigit():
            continue
        number, state, reason, nodelist, num_nodes, partition, name, comment = parts
        ends, near = _read_ends(comment), "limit" in comment.split(";")
        found[int(number)] = SlurmJob(int(number), state, reason, nodelist, num_nodes, partition, name, ends, near)
    return found


def _read_ends(comment: str) -> dict[int, End]:
    """`rk;0=0;limit;1=127:words`."""
    if not comment.startswith("rk;"):
        return {}
    return {int(node): End(int(code), (words or "").strip()) for node, code, words in _END.findall(comment)}


def read_nodes(text: str, partition: str = "") -> list[NodeInfo]:
    """The output of `scontrol -o -d show node`; with a partition only its nodes."""
    found = []
    for line in text.splitlines():
        data = _fields(line)
        if "NodeName" not in data or (partition and partition not in data.get("Partitions", "").split(",")):
            continue
        cpus, taken = _int(data.get("CPUTot")), _int(data.get("CPUAlloc"))
        gpus, gpus_taken = _gpus(data.get("Gres", "")), _gpus(data.get("GresUsed", ""))
        state, usable = _state(data.get("State", ""))
        found.append(
            NodeInfo(
                data["NodeName"],
                address=data.get("NodeAddr", ""),
                state=state,
                cpus=cpus,
                gpus=gpus,
                memory_bytes=_int(data.get("RealMemory")) * 1024 * 1024,
                free_cpus=max(0, cpus - taken) if usable else 0,
                free_gpus=max(0, gpus - gpus_taken) if usable else 0,
                detail=_detail(data),
            )
        )
    return found


def read_partitions(text: str) -> dict[str, dict[str, str]]:
    """The output of `scontrol -o show partition`, by name; the default one is there under "" as well."""
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        data = _fields(line)
        if "PartitionName" in data:
            found[data["PartitionName"]] = data
            if data.get("Default") == "YES":
                found[""] = data
    return found


def read_limit_s(text: str) -> Optional[int]:
    """A time of Slurm ([DAYS-]HOURS:MINUTES:SECONDS, or minutes) in seconds; None for none."""
    found = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text.strip())
    if not found:
        return None
    days, *rest = found.groups()
    numbers = [int(n) for n in rest if n is not None]
    if days is not None:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, [*numbers, 0][:2]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def _fields(line: str) -> dict[str, str]:
    """`A=1 B=two words C=3`: a value goes on until the next name."""
    marks = list(_FIELD.finditer(line))
    ends = [m.start() for m in marks[1:]] + [len(line)]
    return {m.group(1): line[m.end() : end].strip() for m, end in zip(marks, ends)}


def _state(words: str) -> tuple[str, bool]:
    """Our word for Slurm's `IDLE+DRAIN`, and whether it takes jobs."""
    parts = set(re.sub(r"[*~#!%$@^-]", "", words).upper().split("+"))
    if parts & {
        "DOWN",
        "FAIL",
        "FAILING",
        "ERROR",
        "UNKNOWN",
        "NOT_RESPONDING",
        "POWERED_DOWN",
        "POWERING_DOWN",
        "FUTURE",
    }:
        # A node that sleeps to save power is woken when it is needed.
        return ("idle", True) if parts & {"IDLE"} and not parts & {"NOT_RESPONDING", "FAIL"} else ("down", False)
    if parts & {"DRAIN", "DRAINED", "DRAINING", "MAINT", "RESERVED", "INVAL", "BLOCKED"}:
        return "drained", False
    return ("running" if parts & {"ALLOCATED", "MIXED", "COMPLETING", "ALLOC"} else "idle"), True


def _detail(data: dict[str, str]) -> str:
    words = [f"Slurm says {data.get('State', 'nothing')}"]
    if data.get("Reason"):
        words.append(data["Reason"])
    features = data.get("ActiveFeatures", "(null)")
    if features != "(null)":
        words.append(f"features {features}")
    return ": ".join(words[:2]) + "".join(f", {w}" for w in words[2:])


def _gpus(text: str) -> int:
    """`gpu:a100:4(S:0-1),gpu:2` has six."""
    found = re.findall(r"\bgpu(?::[^:,()]+)?:(\d+)", text)
    return sum(int(n) for n in found)


def _int(text: Optional[str]) -> int:
    found = re.match(r"\d+", text or "")
    return int(found.group()) if found else 0


def _ranges(numbers: Sequence[int]) -> str:
    words, start = [], 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            words.append(f"{numbers[start]}-{numbers[i - 1]}" if i - start > 1 else str(numbers[start]))
            start = i
    return "_".join(words)


def _numbers(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for word in text.split("_"):
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
