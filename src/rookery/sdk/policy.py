"""Early termination policies: which children are stopped before they are done."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import TuneConfigError
from rookery.spec.tune import POLICIES

__all__ = [
    "AshaPolicy",
    "BanditPolicy",
    "EarlyTerminationPolicy",
    "MedianStoppingPolicy",
    "NoTerminationPolicy",
    "TruncationSelectionPolicy",
]


class EarlyTerminationPolicy:
    """What all of them are. An interval is one logging of the primary metric.

    evaluation_interval: the policy looks at a run at every multiple of so many intervals.
    delay_evaluation: but not before this one.
    """

    POLICY_NAME = ""
    _kind = "none"

    def __init__(self, name: str, properties: Optional[dict[str, Any]] = None) -> None:
        self._name = name
        self._properties = {key: value for key, value in (properties or {}).items() if value is not None}
        for key, least in (("evaluation_interval", 1), ("delay_evaluation", 0)):
            value = self._properties.get(key, least)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise TuneConfigError(
                    f"{type(self).__name__}: {key}={value!r:.40} must be a whole number, {least} or more."
                )

    @property
    def evaluation_interval(self) -> Any:
        return self._properties.get("evaluation_interval", POLICIES[self._kind].get("evaluation_interval"))

    @property
    def delay_evaluation(self) -> Any:
        return self._properties.get("delay_evaluation", POLICIES[self._kind].get("delay_evaluation"))

    def to_json(self) -> dict[str, Any]:
        """As plain data, with v1's name of the policy."""
        return {"name": self._name, "properties": dict(self._properties)} if self._properties else {"name": self._name}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in self._properties.items())})"


class BanditPolicy(EarlyTerminationPolicy):
    """Stops a run whose best metric so far is further from the best of all runs than the slack: below best / (1 + slack_factor), or
    below best - slack_amount, where the metric is to be maximized."""

    POLICY_NAME = "Bandit"
    _kind = "bandit"

    def __init__(
        self,
        evaluation_interval: int = 1,
        slack_factor: Optional[float] = None,
        slack_amount: Optional[float] = None,
        delay_evaluation: int = 0,
    ) -> None:
        if (slack_factor is None) == (slack_amount is None):
            raise TuneConfigError("BanditPolicy takes either slack_factor or slack_amount, not both and not neither.")
        super().__init__(
            self.POLICY_NAME,
            {
                "evaluation_interval": evaluation_interval,
                "slack_factor": slack_factor,
                "slack_amount": slack_amount,
                "delay_evaluation": delay_evaluation,
            },
        )

    @property
    def slack_factor(self) -> Any:
        return self._properties.get("slack_factor")

    @property
    def slack_amount(self) -> Any:
        return self._properties.get("slack_amount")


class MedianStoppingPolicy(EarlyTerminationPolicy):
    """Stops a run whose best metric so far is worse than the median of all runs' averages over the same intervals."""

    POLICY_NAME = "MedianStopping"
    _kind = "median"

    def __init__(self, evaluation_interval: int = 1, delay_evaluation: int = 0) -> None:
        super().__init__(
            self.POLICY_NAME, {"evaluation_interval": evaluation_interval, "delay_evaluation": delay_evaluation}
        )


class TruncationSelectionPolicy(EarlyTerminationPolicy):
    """Stops the worst `truncation_percentage` per cent of the runs at each evaluated interval."""

    POLICY_NAME = "TruncationSelection"
    _kind = "truncation"

    def __init__(self, truncation_percentage: int, evaluation_interval: int = 1, delay_evaluation: int = 0) -> None:
        if (
            isinstance(truncation_percentage, bool)
            or not isinstance(truncation_percentage, int)
            or not 1 <= truncation_percentage <= 99
        ):
            raise TuneConfigError(
                f"truncation_percentage={truncation_percentage!r:.40} must be a whole number from 1 to 99."
            )
        super().__init__(
            self.POLICY_NAME,
            {
                "truncation_percentage": truncation_percentage,
                "evaluation_interval": evaluation_interval,
                "delay_evaluation": delay_evaluation,
            },
        )

    @property
    def truncation_percentage(self) -> Any:
        return self._properties.get("truncation_percentage")


class NoTerminationPolicy(EarlyTerminationPolicy):
    """Every run goes to its end."""

    POLICY_NAME = "Default"

    def __init__(self) -> None:
        super().__init__(self.POLICY_NAME)


class AshaPolicy(EarlyTerminationPolicy):
    """Asynchronous successive halving; ours, not v1's. At intervals `min_intervals`, times `reduction_factor`, times its square …
    only the best 1/`reduction_factor` of the runs that have come so far goes on."""

    POLICY_NAME = "ASHA"
    _kind = "asha"

    def __init__(self, reduction_factor: int = 3, min_intervals: int = 1) -> None:
        for name, value, least in (("reduction_factor", reduction_factor, 2), ("min_intervals", min_intervals, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise TuneConfigError(f"AshaPolicy: {name}={value!r:.40} must be a whole number, {least} or more.")
        super().__init__(self.POLICY_NAME, {"reduction_factor": reduction_factor, "min_intervals": min_intervals})
