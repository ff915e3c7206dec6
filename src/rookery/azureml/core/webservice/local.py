"""azureml.core.webservice.local. Differs: needs no Docker."""

from rookery.azureml.finder import fill
from rookery.sdk.deployment_config import LocalWebserviceDeploymentConfiguration  # noqa: F401
from rookery.sdk.webservice_kinds import LocalWebservice  # noqa: F401

fill(globals())
