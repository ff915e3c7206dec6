"""Refuses to be built for an environment that has the original Horovod: both would be written into one folder."""

import glob
import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RefuseBesideTheOriginal(BuildHookInterface):
    def initialize(self, version, build_data):
        if self.target_name == "wheel":
            refuse_beside_the_original({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def refuse_beside_the_original(folders):
    """RuntimeError that says where the original is."""
    for folder in sorted(folders):
        found = glob.glob(os.path.join(folder, "horovod-*.dist-info")) + glob.glob(
            os.path.join(folder, "horovod-*.egg-info")
        )
        if found:
            raise RuntimeError(
                "rookery-horovod cannot be installed beside Horovod itself ({}): both write into the folder `horovod`. "
                "Run `pip uninstall horovod` first, or keep the original.".format(found[0])
            )
