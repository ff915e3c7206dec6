"""The batch script of a gang, and the options of sbatch."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Sequence
from typing import Optional

from rookery.engine.engines.slurm.listing import read_limit_s
from rookery.engine.engines.slurm.node_program import AGENT_MARK, NODE_PROGRAM
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SlurmOptions

__all__ = ["batch_script", "notice_s", "request_options", "sbatch_options"]

# What a node starts: same process, so the agent is Slurm's task. Of Slurm's variables only those stay that say what there
# is: with the others MPI, Lightning and their like would take the one task of the step for all there is to the run.
_START = r"""
export ROOKERY_NODE_CPUS="${SLURM_CPUS_ON_NODE:-}" ROOKERY_NODE_NAME="${SLURMD_NODENAME:-$(hostname)}"
export %(mark)s="$SLURM_JOB_ID/$ROOKERY_NODE"
said=$(mktemp "${TMPDIR:-/tmp}/rookery-$SLURM_JOB_ID-$ROOKERY_NODE.XXXXXX" 2>/dev/null) || said=/dev/null
for name in $(env | sed -n 's/^\(SLURM_[A-Z0-9_]*\)=.*/\1/p'); do
  case $name in
    SLURM_CONF|SLURM_JOB_ID|SLURM_JOB_NODELIST|SLURM_JOB_PARTITION|SLURM_JOB_ACCOUNT|SLURM_JOB_GPUS|SLURM_CPUS_ON_NODE) ;;
    SLURM_JOB_END_TIME|SLURM_CLUSTER_NAME) ;;
    *) unset "$name" ;;
  esac
done
exec %(python)s -I - >>"$said" 2>&1
"""

_SCRIPT = r"""#!/bin/bash
# Rookery: %(title)s. One step per node, so that each agent has an exit code and a signal of its own.
umask 077
# Queued again by Slurm: whether there is another try is our keeper's to decide.
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && exit 0
%(setup)s
rk_boot() { cat <<'%(mark)s'
%(boot)s
%(mark)s
}
rk_program() { cat <<'%(mark)s'
%(program)s
%(mark)s
}
rk_nodes=(%(nodes)s)
rk_start=%(start)s
rk_python=%(python)s
export RK_KEY=%(key)s
case $SLURM_JOB_NODELIST in
  *[[,]*) mapfile -t rk_hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST") ;;
  *) rk_hosts=("$SLURM_JOB_NODELIST") ;;
esac

rk_srun() {  # seconds or nothing, host, name, command …
  local limit=$1 host=$2 name=$3; shift 3
  ${limit:+timeout -k 1 $limit} srun --overlap --nodes=1 --ntasks=1 --nodelist="$host" --job-name="$name" --mpi=none \
    --cpu-bind=none --kill-on-bad-exit=0 --no-kill=off --export=ALL --chdir=/ "$@"
}

rk_address() {  # where other nodes reach a host
  local address=$1 rest
  [[ $(scontrol -o show node "$1" 2>/dev/null) =~ NodeAddr=([^ ]+) ]] && address=${BASH_REMATCH[1]}
  read -r address rest < <(getent ahosts "$address" 2>/dev/null) || address=
  case $address in 127.*|::1) ;; *) printf %%s "$address" ;; esac
}

rk_clear() {  # index: clears up after the agent of that node, and prints its last words
  rk_program | rk_srun 10 "${rk_hosts[$1]}" "rk-end-${rk_nodes[$1]}" sh -c 'exec "$0" -I -' "$rk_python"
}

rk_node() {  # index
  local said code words
  export ROOKERY_NODE=${rk_nodes[$1]} ROOKERY_NODE_ADDRESS
  ROOKERY_NODE_ADDRESS=$(rk_address "${rk_hosts[$1]}")
  said=$(rk_boot | rk_srun "" "${rk_hosts[$1]}" "rk-$ROOKERY_NODE" sh -c "$rk_start" 2>&1; echo "rk-code $?")
  code=${said##*rk-code }
  words=$(rk_clear "$1" 2>/dev/null)
  [ "$code" = 0 ] && words="" said=""
  said=$(printf '%%s' "${said%%rk-code *}" | grep -v 'lacks support for cpu binding\|task 0: ')
  words=$(printf '%%s %%s' "$words" "$said" | tr -c 'A-Za-z0-9 ._,/()=+@-' ' ' | tr -s ' ' |
    sed -E 's/[A-Za-z0-9_-]{32,}/***/g' | tail -c 300)  # a comment is for all eyes: what looks like a token goes
  [ "$code" -gt 128 ] && scontrol -o show job "$SLURM_JOB_ID" 2>/dev/null | grep -q ' PreemptTime=[0-9]' && words=preempted
  echo "${rk_nodes[$1]}=$code:$words"
}

rk_tell() {  # lines: into the job's comment, which everybody who may see the job can read
  local line told=rk try
  while IFS= read -r line; do
    told="$told;$line"
    for try in 1 2 3 4 5 6 7 8 9 10; do
      rk_shrunk && break
      scontrol update jobid="$SLURM_JOB_ID" comment="$told" >/dev/null 2>&1 && break
      sleep 2
    done
  done
}

rk_shrunk() {  # a job that has lost a node cannot be changed any more where Slurm has no database; its end says enough
  local count
  count=$(squeue -h -j "$SLURM_JOB_ID" -o %%D 2>/dev/null)
  [ -n "$count" ] && [ "$count" != "${#rk_nodes[@]}" ]
}

# One writer of the comment, fed through a pipe; the shell itself only waits, so that its trap runs at once.
trap '' USR1
exec {rk_lines}> >(rk_tell)
rk_teller=$!
( for i in "${!rk_nodes[@]}"; do rk_node "$i" >&"$rk_lines" & done; wait ) &
rk_all=$!
trap 'echo limit >&"$rk_lines"' USR1  # --signal: the time limit is near. The keeper hears of it and preempts the run.
while kill -0 "$rk_all" 2>/dev/null; do wait "$rk_all"; done
exec {rk_lines}>&-
while kill -0 "$rk_teller" 2>/dev/null; do wait "$rk_teller"; done
exit 0
"""


def batch_script(
    boot: str,
    nodes: Sequence[int],
    key: str,
    spec: ClusterSpec,
    options: SlurmOptions,
) -> str:
    """The script; `boot` is in it, so it is a secret. Slurm keeps scripts where only the job's user (and the cluster's
    administrators) can read them."""
    mark = f"ROOKERY_{secrets.token_hex(16)}"
    python = shlex.quote(spec.reach.python or "python3")
    return _SCRIPT % {
        "title": f"run {key.rpartition('/')[0]}, attempt {key.rpartition('/')[2]}".replace("\n", " "),
        "setup": "\n".join(options.setup),
        "mark": mark,
        "boot": boot,
        "program": NODE_PROGRAM,
        "nodes": " ".join(str(n) for n in nodes),
        "start": shlex.quote(_START % {"python": python, "mark": AGENT_MARK}),
        "python": python,
        "key": shlex.quote(key),
    }


def sbatch_options(
    options: SlurmOptions, spec: ClusterSpec, name: str, node_count: int, notice: int, output: str, nodelist: str = ""
) -> list[str]:
    """The arguments of sbatch for a gang."""
    return [
        "--parsable",
        f"--job-name={name}",
        f"--output={output}",
        "--open-mode=append",
        "--chdir=/",
        "--export=ALL",
        "--no-requeue",  # a job that Slurm takes away ends; the keeper decides about the next try
        "--no-kill",  # when one node dies the agents of the others still tell how it went
        *([f"--signal=B:USR1@{notice}"] if notice else []),
        *request_options(options, spec, node_count, nodelist),
    ]


def request_options(options: SlurmOptions, spec: ClusterSpec, node_count: int, nodelist: str = "") -> list[str]:
    """What is asked for, for sbatch and srun alike."""
    cpus = options.cpus_per_task or spec.cpus_per_node
    gres = options.gres or (f"gpu:{spec.gpus_per_node}" if spec.gpus_per_node else "")
    said = {
        "partition": options.partition,
        "account": options.account,
        "qos": options.qos,
        "time": options.time_limit,
        "constraint": options.constraint,
        "reservation": options.reservation,
        "gres": gres,
        "mem": options.mem,
        "nodelist": nodelist or options.nodelist,
        "exclude": options.exclude,
        "nice": "" if options.nice is None else str(options.nice),
    }
    return [
        f"--nodes={node_count}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={cpus}" if cpus else "--exclusive",
        *(f"--{name}={value}" for name, value in said.items() if value),
        *options.extra,
    ]


def notice_s(options: SlurmOptions, partition_limit: Optional[int]) -> int:
    """How long before the time limit agents are told. At most half of the limit, or a run would be told to leave as soon
    as it has begun."""
    limits = [limit for limit in (read_limit_s(options.time_limit), partition_limit) if limit]
    return min([options.signal_s, *(limit // 2 for limit in limits)])
