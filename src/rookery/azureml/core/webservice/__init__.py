"""azureml.core.webservice. Differs: every kind is served by the keeper's machine, without Docker and without a cloud."""

from rookery.azureml.finder import fill
from rookery.sdk.aks_endpoint import AksEndpoint  # noqa: F401
from rookery.sdk.webservice import Webservice  # noqa: F401
from rookery.sdk.webservice_kinds import AciWebservice, AksWebservice, LocalWebservice  # noqa: F401

fill(globals())
