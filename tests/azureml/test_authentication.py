from __future__ import annotations

import pytest

from rookery.azureml.core.authentication import (
    ArmTokenAuthentication,
    Audience,
    AzureCliAuthentication,
    AzureMLTokenAuthentication,
    InteractiveLoginAuthentication,
    MsiAuthentication,
    ServicePrincipalAuthentication,
    TokenAuthentication,
)
from rookery.spec.paths import WorkspacePaths

ALL = [
    lambda: InteractiveLoginAuthentication(tenant_id="t"),
    lambda: AzureCliAuthentication(),
    lambda: MsiAuthentication(),
    lambda: ServicePrincipalAuthentication("t", "i", "p"),
]


class TestHeader:
    @pytest.mark.parametrize("make", ALL)
    def test_inside_a_run_it_is_the_runs_own(self, make, monkeypatch):
        monkeypatch.setenv("ROOKERY_RUN_TOKEN", "rkr_x")
        assert make().get_authentication_header() == {"Authorization": "Bearer rkr_x"}
        assert make().get_token("scope").token == "rkr_x"

    def test_elsewhere_it_is_the_owners(self, home, tmp_path, monkeypatch):
        from rookery.client import find_workspace

        monkeypatch.chdir(tmp_path)
        root = find_workspace().root
        token = tmp_path / WorkspacePaths(root).token
        token.parent.mkdir(parents=True, exist_ok=True)
        token.write_text("rko_y\n")
        assert InteractiveLoginAuthentication().get_authentication_header() == {"Authorization": "Bearer rko_y"}

    def test_given_tokens_are_passed_on(self):
        arm = ArmTokenAuthentication("a")
        arm.update_arm_access_token("b")
        assert arm.get_authentication_header() == {"Authorization": "Bearer b"}
        own = AzureMLTokenAuthentication.create("c", None, "host", "s", "r", "w", "e", "id")
        assert (own.token, own.get_authentication_header()) == ("c", {"Authorization": "Bearer c"})
        asked = TokenAuthentication(lambda audience: audience.value)
        assert asked.get_token(Audience.ARM) == "ARM"
        assert asked.get_authentication_header() == {"Authorization": "Bearer AZUREML"}
