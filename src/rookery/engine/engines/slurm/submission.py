"""Handing a gang to Slurm: sbatch, once."""

from __future__ import annotations

import os
from dataclasses import replace

from rookery.engine.engines.slurm.asking import Asking
from rookery.engine.engines.slurm.commands import Commands, SlurmAway, SlurmRefused
from rookery.engine.engines.slurm.gangs import Gang, Notes
from rookery.engine.engines.slurm.script import batch_script, notice_s, sbatch_options
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import SlurmOptions

__all__ = ["Submission"]

SBATCH_S = 60.0


class Submission:
    """How the jobs of one target are made."""

    def __init__(
        self, spec: ClusterSpec, options: SlurmOptions, commands: Commands, asking: Asking, notes: Notes
    ) -> None:
        self._spec, self._options = spec, options
        self._commands, self._asking, self._notes = commands, asking, notes

    def send(self, gang: Gang, boot: str) -> int:
        """The number of its job. Where an answer was lost (`gang.away`), the job is looked for by its name before it is sent
        again.

        Raises:
            SlurmAway: it may or may not have been heard.
            SlurmRefused: it will not be run; says why.
        """
        if gang.away:
            found = [j for j in self._asking.jobs().values() if j.name == str(gang.name) and not j.has_ended]
            if found:
                return min(j.id for j in found)
        count = len(gang.name.nodes)
        most = self._asking.most_nodes(self._options.partition)
        if most is not None and count > most:
            raise SlurmRefused(f"it needs {count} nodes, and the partition gives a job at most {most}")
        output = self._notes.output(gang.name) if self._spec.reach.shared_files else os.devnull
        where = ",".join(sorted({place.on for place in gang.places.values() if place.on}))
        name, notice = str(gang.name), self.notice_s()
        arguments = sbatch_options(self._options, self._share(), name, count, notice, output, where)
        key = f"{gang.name.run_id}/{gang.name.attempt}"
        script = batch_script(boot, gang.name.nodes, key, self._spec, self._options)
        said = self._commands.run("sbatch", *arguments, text=script, timeout_s=SBATCH_S)
        try:
            return int(said.strip().splitlines()[-1].split(";")[0])
        except (ValueError, IndexError) as error:
            raise SlurmAway(f"sbatch answered {said!r}") from error

    def notice_s(self) -> int:
        """How long before its time limit a job is told."""
        return notice_s(self._options, self._asking.partition_limit_s(self._options.partition))

    def _share(self) -> ClusterSpec:
        """What an agent takes of its node. Who takes all of a node takes its GPUs too."""
        spec, options = self._spec, self._options
        if spec.gpus_per_node is not None or options.gres or options.cpus_per_task or spec.cpus_per_node:
            return spec
        return replace(spec, gpus_per_node=self._asking.gpus_of_a_node(options.partition))
