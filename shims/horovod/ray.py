"""horovod.ray: not here; says so."""

from horovod.absent import refuse

refuse(__name__)
