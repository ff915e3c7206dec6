"""`python -m rookery.agent <folder of the node's share>`: does what job.json says."""

from __future__ import annotations

import sys


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        sys.stderr.write("usage: python -m rookery.agent FOLDER   (the folder that holds job.json)\n")
        return 2
    from rookery.agent import modes
    from rookery.agent.agent import Agent, Gone, Over, ignore_terminal_signals, take_user_umask
    from rookery.agent.checkpoints import with_own_folder
    from rookery.agent.disk import read_json
    from rookery.agent.node import settle
    from rookery.agent.tree import stop_attempt
    from rookery.spec.job import Job
    from rookery.spec.paths import NodePaths
    from rookery.spec.plain import from_plain

    paths = NodePaths(argv[1])
    data = read_json(paths.job)
    if data is None:
        sys.stderr.write(f"{paths.job} cannot be read as JSON.\n")
        return 2
    ignore_terminal_signals()
    take_user_umask()
    agent = Agent(with_own_folder(settle(from_plain(Job, data)), paths.root), paths)
    mode = {"run": modes.run, "watch": modes.watch, "finish": modes.finish}.get(agent.job.mode)
    if mode is None:
        sys.stderr.write(f"mode {agent.job.mode!r} does not exist. Known: run, watch, finish.\n")
        return 2
    try:
        mode(agent)
        return 0
    except (Over, Gone) as reason:
        # Nobody wants to hear from us any more: leave nothing running.
        agent.say(f"the attempt is over: {reason or 'its folder is gone'}")
        if agent.job.mode != "watch":
            import os

            # What else a container has belongs to its runtime; the guard removes it when we are gone.
            below = None if agent.job.container else os.getpid()
            stop_attempt(agent.key, agent.job.cancel_grace_s, below, node=agent.job.node)
        agent.remove_work()
        if isinstance(reason, Over):  # otherwise what it has to tell stays for a while: its keeper may be found again
            agent.leave()
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv))
