"""The parts of Horovod that are not here."""

__all__ = ["refuse"]


def refuse(name):
    """ImportError that says what there is and how to get the original."""
    raise ImportError(
        "{0} is not part of Rookery's horovod, which has horovod.torch only. For the original, set Rookery's setting "
        "original_packages to 'horovod' (environment variable ROOKERY_ORIGINAL_PACKAGES) and put horovod into the "
        "run's environment.".format(name),
        name=name,
    )
