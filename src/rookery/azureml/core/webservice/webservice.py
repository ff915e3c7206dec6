"""azureml.core.webservice.webservice."""

from rookery.azureml.finder import fill
from rookery.sdk.deployment_config import WebserviceDeploymentConfiguration  # noqa: F401
from rookery.sdk.webservice import Webservice  # noqa: F401
from rookery.sdk.webservice_parts import (  # noqa: F401
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
    WebServiceAccessToken,
)

fill(globals())
