"""azureml.train.dnn. Differs: frameworks come in today's versions, whatever `framework_version` says (a warning tells)."""

from rookery.azureml.finder import fill
from rookery.sdk.estimators import (  # noqa: F401
    Chainer,
    Gloo,
    Mpi,
    Nccl,
    ParameterServer,
    PyTorch,
    TensorFlow,
)

fill(globals())
