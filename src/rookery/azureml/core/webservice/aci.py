"""azureml.core.webservice.aci. Differs: certificates, networks and encryption are checked and not used."""

from rookery.azureml.finder import fill
from rookery.sdk.deployment_config import AciServiceDeploymentConfiguration  # noqa: F401
from rookery.sdk.webservice_kinds import AciWebservice  # noqa: F401
from rookery.sdk.webservice_parts import (  # noqa: F401
    ContainerResourceRequirements,
    EncryptionProperties,
    VnetConfiguration,
)

fill(globals())
