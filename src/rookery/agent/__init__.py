"""One node's share of a run. Standard library only; started as `python -m rookery.agent <folder>`.

For the engine: `find_attempt` and `stop_attempt` find and stop what a dead agent left behind.
"""

from rookery.agent.tree import find_attempt, stop_attempt

__all__ = ["find_attempt", "stop_attempt"]
