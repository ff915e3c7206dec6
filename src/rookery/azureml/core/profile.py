"""azureml.core.profile. Differs: the numbers are those of the keeper's machine; cpu and memory are not enforced."""

from rookery.azureml.finder import fill
from rookery.sdk.model_profile import (  # noqa: F401
    MAX_PROFILE_CPU,
    MAX_PROFILE_MEMORY,
    MIN_PROFILE_CPU,
    MIN_PROFILE_MEMORY,
    ModelProfile,
)

fill(globals())
