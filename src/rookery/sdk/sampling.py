"""How hyperparameters are sampled: at random, over a grid, or by what earlier runs have shown."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import RunConfigError, TuneConfigError, UserError
from rookery.spec.distributions import check_space
from rookery.spec.tune import BAYESIAN

__all__ = [
    "BayesianParameterSampling",
    "GridParameterSampling",
    "HyperParameterSampling",
    "RandomParameterSampling",
]


class HyperParameterSampling:
    """What all of them are.

    properties: `seed` (a whole number: the same one gives the same values), and of random sampling `rule` ('random' or 'sobol').
    """

    SAMPLING_NAME = ""
    _kind = ""
    _known: tuple[str, ...] = ("seed",)

    def __init__(
        self,
        sampling_method_name: str,
        parameter_space: dict[str, Any],
        properties: Optional[dict[str, Any]] = None,
        supported_distributions: Any = None,
        distributions_validators: Any = None,
    ) -> None:
        self._sampling_method_name = sampling_method_name
        self._parameter_space = dict(parameter_space or {})
        self._properties = dict(properties or {})
        try:
            space = check_space(self._parameter_space)
            for name, (kind, _) in space.items():
                if supported_distributions and kind not in supported_distributions:
                    allowed = ", ".join(sorted(supported_distributions))
                    raise RunConfigError(f"{type(self).__name__} takes {allowed} only; parameter '{name}' is {kind}.")
            for name in self._properties:
                if name not in self._known:
                    raise RunConfigError(
                        f"{type(self).__name__}: there is no property {name!r:.40}. Known: {', '.join(self._known)}."
                    )
        except (UserError, RunConfigError) as error:
            raise TuneConfigError(error.message) from None

    @property
    def parameter_space(self) -> dict[str, Any]:
        return self._parameter_space

    def to_json(self) -> dict[str, Any]:
        """As plain data, with v1's name of the method."""
        plain: dict[str, Any] = {"name": self._sampling_method_name, "parameter_space": self._parameter_space}
        return {**plain, "properties": self._properties} if self._properties else plain

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._parameter_space!r})"


class RandomParameterSampling(HyperParameterSampling):
    """Every child independently of all others."""

    SAMPLING_NAME = "RANDOM"
    _kind = "random"
    _known = ("seed", "rule")

    def __init__(self, parameter_space: dict[str, Any], properties: Optional[dict[str, Any]] = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties)


class GridParameterSampling(HyperParameterSampling):
    """Every combination once; `choice` only."""

    SAMPLING_NAME = "GRID"
    _kind = "grid"

    def __init__(self, parameter_space: dict[str, Any], properties: Optional[dict[str, Any]] = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties, {"choice"})


class BayesianParameterSampling(HyperParameterSampling):
    """By what the children before have shown, with Optuna; `choice`, `uniform` and `quniform` only."""

    SAMPLING_NAME = "BayesianOptimization"
    _kind = "bayesian"

    def __init__(self, parameter_space: dict[str, Any], properties: Optional[dict[str, Any]] = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties, set(BAYESIAN))
