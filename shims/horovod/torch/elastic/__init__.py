"""horovod.torch.elastic over a fixed set of ranks.

`@hvd.elastic.run`, `TorchState` and `ElasticSampler` work; ranks do not come and go while the script runs. A lost rank ends
the attempt; where Rookery starts another (and gives it ROOKERY_RESUME_DIR), `run` goes on from the last commit.
"""

from horovod.torch.elastic.sampler import ElasticSampler
from horovod.torch.elastic.state import ObjectState, State, TorchState, run

__all__ = ["ElasticSampler", "ObjectState", "State", "TorchState", "run"]
