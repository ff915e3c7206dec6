"""What other libraries ask of Horovod's build, answered for torch.distributed."""

__all__ = [
    "ccl_built",
    "cuda_built",
    "ddl_built",
    "extension_available",
    "gloo_built",
    "gpu_available",
    "mpi_built",
    "nccl_built",
    "rocm_built",
]


def extension_available(ext_base_name, verbose=False):
    return ext_base_name == "torch"


def gpu_available(ext_base_name="torch", verbose=False):
    import torch

    return torch.cuda.is_available()


def gloo_built(verbose=False):
    return True


def mpi_built(verbose=False):
    """False: mpirun may start the ranks, but what they say to each other goes over gloo or NCCL."""
    return False


def nccl_built(verbose=False):
    """NCCL's version as a number, 0 without: Horovod's convention, true where it is there."""
    import torch
    import torch.distributed as dist

    if not torch.cuda.is_available() or not dist.is_available() or not dist.is_nccl_available():
        return 0
    version = torch.cuda.nccl.version()
    if isinstance(version, tuple):
        version = version[0] * 10000 + version[1] * 100 + version[2]
    return int(version) or 1


def cuda_built(verbose=False):
    import torch

    return bool(torch.version.cuda)


def rocm_built(verbose=False):
    import torch

    return bool(getattr(torch.version, "hip", None))


def ddl_built(verbose=False):
    return False


def ccl_built(verbose=False):
    return False
