"""azureml.core.authentication. Differs: there is no account to sign in to.

Every class succeeds. Its header carries the token of this workspace's keeper (inside a run: the run's own),
so that requests to the keeper's address are let in.
"""

from __future__ import annotations

import enum
import os
import time
from collections import namedtuple
from typing import Any, Callable, Optional

__all__ = [
    "AbstractAuthentication",
    "ArmTokenAuthentication",
    "Audience",
    "AzureCliAuthentication",
    "AzureMLTokenAuthentication",
    "InteractiveLoginAuthentication",
    "MsiAuthentication",
    "ServicePrincipalAuthentication",
    "TokenAuthentication",
]

AccessToken = namedtuple("AccessToken", ["token", "expires_on"])
_AN_HOUR_S = 3600


class Audience(enum.Enum):
    ARM = "ARM"
    AZUREML = "AZUREML"


class AbstractAuthentication:
    def __init__(self, cloud: Any = None) -> None:
        self._cloud = cloud

    def get_authentication_header(self) -> dict[str, str]:
        """What to send with a request: `{"Authorization": "Bearer …"}`."""
        return {"Authorization": "Bearer " + self._token()}

    def get_token(self, *scopes: Any, **kwargs: Any) -> Any:
        """(token, expires_on), as Azure's credential classes give it."""
        return AccessToken(self._token(), int(time.time()) + _AN_HOUR_S)

    def signed_session(self, session: Any = None) -> Any:
        """A `requests` session that sends the header."""
        if session is None:
            import requests  # type: ignore[import-untyped,unused-ignore]  # only who calls this needs it

            session = requests.Session()
        session.headers.update(self.get_authentication_header())
        return session

    def _token(self) -> str:
        return keeper_token()


class InteractiveLoginAuthentication(AbstractAuthentication):
    def __init__(self, force: bool = False, tenant_id: Optional[str] = None, cloud: Any = None) -> None:
        super().__init__(cloud)


class AzureCliAuthentication(AbstractAuthentication):
    pass


class MsiAuthentication(AbstractAuthentication):
    def __init__(self, cloud: Any = None, **kwargs: Any) -> None:
        super().__init__(cloud)


class ServicePrincipalAuthentication(AbstractAuthentication):
    def __init__(
        self,
        tenant_id: str,
        service_principal_id: str,
        service_principal_password: str,
        cloud: Any = "AzureCloud",
        _enable_caching: bool = True,
    ) -> None:
        super().__init__(cloud)


class ArmTokenAuthentication(AbstractAuthentication):
    def __init__(self, arm_access_token: str, cloud: Any = "None") -> None:
        super().__init__(cloud)
        self._given = arm_access_token

    def update_arm_access_token(self, new_arm_access_token: str) -> None:
        self._given = new_arm_access_token

    def _token(self) -> str:
        return self._given


class AzureMLTokenAuthentication(AbstractAuthentication):
    EXPIRATION_THRESHOLD_IN_SECONDS = 95
    REFRESH_INTERVAL_IN_SECONDS = 30

    def __init__(self, azureml_access_token: str, expiry_time: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("cloud"))
        self.set_token(azureml_access_token, expiry_time)

    @classmethod
    def create(
        cls, azureml_access_token: str, expiry_time: Any, *args: Any, **kwargs: Any
    ) -> AzureMLTokenAuthentication:
        return cls(azureml_access_token, expiry_time, *args, **kwargs)

    @property
    def token(self) -> str:
        return self._given

    @property
    def expiry_time(self) -> Any:
        return self._expiry_time

    def set_token(self, token: str, expiry_time: Any) -> None:
        self._given, self._expiry_time = token, expiry_time

    def _token(self) -> str:
        return self._given


class TokenAuthentication(AbstractAuthentication):
    def __init__(self, get_token_for_audience: Callable[[Audience], str], cloud: Any = None) -> None:
        super().__init__(cloud)
        self._ask = get_token_for_audience

    def get_token(self, audience: Any = Audience.ARM, **kwargs: Any) -> str:
        return self._ask(audience)

    def _token(self) -> str:
        return self._ask(Audience.AZUREML)


def keeper_token() -> str:
    """The run's own token inside a run, else the owner's of the workspace that is meant here."""
    own = os.environ.get("ROOKERY_RUN_TOKEN")
    if own:
        return own
    from rookery.client import ensure_keeper, find_workspace
    from rookery.spec.paths import WorkspacePaths

    address = find_workspace()
    if not address.root:
        return address.token or ""
    path = WorkspacePaths(address.root).token
    if not os.path.exists(path):
        ensure_keeper(address.root)
    with open(path, encoding="ascii") as f:
        return f.read().strip()
