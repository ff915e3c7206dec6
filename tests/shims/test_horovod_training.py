"""Training with horovod.torch in real processes comes to what one process with the large batch comes to."""

from __future__ import annotations

import pytest

from tests.shims.horovod_world import check_names, free_port, run_ranks
from tests.shims.test_horovod import said, torch_variables

pytestmark = pytest.mark.slow

CHECKS = check_names("training.py")


@pytest.fixture(scope="module", params=[2, 4])
def ranks(request, tmp_path_factory):
    size = request.param
    return run_ranks("training.py", torch_variables(size, size, free_port()), tmp_path_factory.mktemp("training"))


class TestTraining:
    @pytest.mark.parametrize("check", CHECKS)
    def test_check(self, ranks, check):
        assert said(ranks, check) == ""
