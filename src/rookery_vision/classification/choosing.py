"""What computes fastest on this machine, found by trying: the number format, and whether compiling the network pays.

A step of the network is timed once per machine, network and size of picture, and the times are kept (`probes.py`). Where processes run on
several machines the slowest counts, so all of them choose the same. A training that goes on keeps what it began with.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from rookery_vision.classification.network import DTYPES, Amp, compiled, make_network, to_input
from rookery_vision.classification.presets import Options
from rookery_vision.classification.ranks import Ranks
from rookery_vision.declare import launched
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing
from rookery_vision.probes import fastest, kept, seconds_of
from rookery_vision.stack import torch

__all__ = ["Choice", "Work", "choose"]

TRIES, LIMIT_S = 4, 4.0  # of each candidate; the first try warms up, and is the only one where it takes so long
CPU_BATCH = 8  # at most: one format must not take minutes to lose
WORTH_S = 1200.0  # a training shorter than this does not get back what compiling takes
CERTAINLY = 1.5  # what compiling saves must be so many times what it costs
NEVER = 1e9  # the seconds of what cannot be done


class Work(NamedTuple):
    """What is to be computed."""

    spec: ModelSpec
    num_classes: int
    prep: Preprocessing
    size: tuple[int, int]  # of the pictures: height, width
    batch_size: int
    num_steps: int  # of the whole training


class Choice(NamedTuple):
    precision: str
    is_compiled: bool
    why: str  # the times, for the log; empty where nothing was to choose


def choose(work: Work, options: Options, ranks: Ranks) -> Choice:
    """The fastest way for all processes; what the options fix is not tried."""
    names = _formats(ranks.device) if options.precision == "Auto" else [options.precision]
    if len(names) == 1 and options.compile != "Auto":
        return Choice(names[0], options.compile == "On", "")
    times = dict(zip(names, _slowest(work, ranks, "step", lambda probe: [probe.step_s(name) for name in names])))
    precision = fastest(times, names)
    why = ", ".join(f"{name} {1000 * t:.0f} ms" for name, t in times.items() if t < NEVER) if len(names) > 1 else ""
    if options.compile != "Auto":
        return Choice(precision, options.compile == "On", why)
    left_s = times[precision] * work.num_steps
    if left_s < WORTH_S:
        return Choice(precision, False, why)
    compile_s, step_s = _slowest(work, ranks, f"compiled-{precision}", lambda probe: list(probe.compiled_s(precision)))
    pays = (times[precision] - step_s) * work.num_steps > CERTAINLY * compile_s
    told = (
        f"compiled {1000 * step_s:.0f} ms after {compile_s:.0f} s" if step_s < NEVER else "it cannot be compiled here"
    )
    return Choice(precision, pays, f"{why}; {told}" if why else told)


def _formats(device: Any) -> list[str]:
    """Those to try, the safest first."""
    if device.type != "cuda":
        return ["float32", "bfloat16"]
    has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    return ["float32", *(["bfloat16"] if has_bfloat16 else []), "float16"]


def _slowest(work: Work, ranks: Ranks, question: str, measure: Any) -> list[float]:
    """The seconds that `measure` finds, for the slowest machine: one process of each measures, the others wait."""
    probe = _Probe(work, ranks.device)
    times: list[float] = []
    if launched.local_rank() == 0:
        about = {**probe.about(), "question": question}
        times = [float(t) for t in kept("network", about, lambda: {"seconds": measure(probe)})["seconds"]]
    count = int(ranks.largest([float(len(times))])[0])
    return ranks.largest(times or [0.0] * count)


class _Probe:
    """The network on made-up pictures, away from the training: neither its weights nor its chance are touched."""

    def __init__(self, work: Work, device: Any) -> None:
        self._work, self._device = work, device
        self._count = work.batch_size if device.type == "cuda" else min(work.batch_size, CPU_BATCH)

    def about(self) -> dict[str, Any]:
        work = self._work
        return {
            "network": [work.spec.network, sorted((k, str(v)) for k, v in work.spec.init_params.items())],
            "num_classes": work.num_classes,
            "pictures": [self._count, *work.size],
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "device": torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else "cpu",
        }

    def step_s(self, precision: str) -> float:
        """Seconds of one step of a whole batch."""
        with torch.random.fork_rng():
            network = self._network()
            return self._timed(network, precision)

    def compiled_s(self, precision: str) -> tuple[float, float]:
        """(seconds that compiling takes, seconds of a step afterwards); NEVER where it cannot be done."""
        with torch.random.fork_rng():
            network = self._network()
            began = time.perf_counter()
            try:
                fast = compiled(network, self._count)
                self._step(fast, precision)
                compile_s = time.perf_counter() - began
                return compile_s, self._timed(fast, precision)
            except Exception:  # no compiler, or one that cannot do this: whatever it says, it is not used
                return NEVER, NEVER

    def _network(self) -> Any:
        return make_network(self._work.spec, self._work.num_classes, None).to(self._device).train()

    def _timed(self, network: Any, precision: str) -> float:
        short = seconds_of(lambda: self._step(network, precision), TRIES, LIMIT_S)
        return short * self._work.batch_size / self._count

    def _step(self, network: Any, precision: str) -> None:
        import numpy

        batch: Any = numpy.zeros((self._count, *self._work.size, 3), dtype=numpy.uint8)
        batch[:] = numpy.arange(self._work.size[1], dtype=numpy.uint8)[:, None]
        x_NCHW = to_input(batch, self._work.prep, self._device)
        labels = torch.zeros(self._count, dtype=torch.long, device=self._device)
        with Amp(self._device.type, DTYPES[precision]).autocast():
            loss = torch.nn.functional.cross_entropy(network(x_NCHW), labels)
        loss.backward()
        network.zero_grad(set_to_none=True)
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
