"""Refuses to be built for an environment that has Microsoft's azureml packages: both would be written into
one folder."""

import glob
import os
import site
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OURS = "rookery_azureml-"


class RefuseBesideMicrosofts(BuildHookInterface):
    def initialize(self, version, build_data):
        if self.target_name == "wheel":
            refuse_beside_microsofts(environment_folders())


def environment_folders():
    """Where the environment that pip installs into keeps its packages. In pip's isolated build `sys.path`
    does not tell."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return sorted({folder for folder in folders if folder and os.path.isdir(folder)})


def refuse_beside_microsofts(folders):
    """RuntimeError that names the distributions in the way."""
    found = [(name, folder) for folder in folders for name in microsofts(folder)]
    if not found:
        return
    names = sorted({name for name, _ in found})
    raise RuntimeError(
        "rookery-azureml cannot be installed beside Microsoft's azureml packages: {} found in {}. Both "
        "write into the folder "
        "`azureml`. Uninstall them first (`pip uninstall {}`), or use an environment of its own; runs "
        "submitted to Rookery "
        "get its azureml without any installation.".format(", ".join(names), found[0][1], " ".join(names))
    )


def microsofts(folder):
    """Distributions in `folder` that are azureml-core, or put files into the package `azureml`."""
    names = []
    found = glob.glob(os.path.join(folder, "*.dist-info")) + glob.glob(os.path.join(folder, "*.egg-info"))
    for info in sorted(found):
        base = os.path.basename(info)
        name = base.split("-")[0].lower()
        is_theirs = name == "azureml_core" or (name.startswith("azureml") and _writes_azureml(info))
        if is_theirs and not base.startswith(OURS):
            names.append(name.replace("_", "-"))
    return names


def _writes_azureml(info):
    try:
        with open(os.path.join(info, "RECORD"), encoding="utf-8") as f:
            return any(line.startswith("azureml/") for line in f)
    except OSError:
        return False
