"""Users, their tokens, and who one is."""

from __future__ import annotations

from typing import Optional

from fastapi import APIRouter

from rookery.errors import AuthenticationError, UserError
from rookery.server.answers import JsonAnswer, answer
from rookery.server.auth import Asking, Principal
from rookery.server.errors import ForbiddenError
from rookery.server.schemas_people import PasswordChange, UserChange, UserNew, UserTokenNew
from rookery.server.services import Served
from rookery.settings import get_setting

__all__ = ["router"]

router = APIRouter(tags=["people"])


@router.get("/me")
def get_me(asking: Asking) -> JsonAnswer:
    """Who this token or session is of."""
    role = "owner" if asking.is_owner else asking.role
    return answer({"kind": asking.kind, "name": str(asking), "role": role, "run_id": asking.run_id})


@router.put("/me/password")
def change_my_password(change: PasswordChange, services: Served, asking: Asking) -> JsonAnswer:
    """Ends all of one's sessions."""
    name = _user(asking)
    try:
        services.record.people.check_login(name, change.old)
    except AuthenticationError:
        raise ForbiddenError("The old password is wrong. Who has none, or forgot it, asks an owner.") from None
    return answer(services.record.people.change(name, password=change.new))


@router.get("/users")
def list_users(services: Served) -> JsonAnswer:
    return answer({"users": services.record.people.list()})


@router.post("/users", status_code=201)
def add_user(new: UserNew, services: Served, asking: Asking) -> JsonAnswer:
    return answer(services.record.people.add(new.name, new.role, new.password, str(asking)), 201)


@router.get("/users/{name}")
def get_user(name: str, services: Served) -> JsonAnswer:
    return answer(services.record.people.get(name))


@router.patch("/users/{name}")
def change_user(name: str, change: UserChange, services: Served) -> JsonAnswer:
    """The role, the password, or both. Counts at once, for tokens and sessions too."""
    if change.role is None and change.password is None:
        raise UserError("Nothing to change. Give role, password or both.")
    return answer(services.record.people.change(name, change.role, change.password))


@router.delete("/users/{name}")
def remove_user(name: str, services: Served) -> JsonAnswer:
    """With all tokens and sessions."""
    services.record.people.remove(name)
    return answer({})


@router.get("/user-tokens")
def list_user_tokens(services: Served, asking: Asking, user: Optional[str] = None) -> JsonAnswer:
    """One's own; an owner sees everybody's."""
    if not asking.is_owner:
        user = _own(asking, user)
    return answer({"tokens": services.record.people.tokens(user)})


@router.post("/user-tokens", status_code=201)
def make_user_token(new: UserTokenNew, services: Served, asking: Asking) -> JsonAnswer:
    """A token with a user's rights. It is shown in this answer and never again."""
    user = (new.user or _user(asking)) if asking.is_owner else _own(asking, new.user)
    days = get_setting("user_token_days", services.paths.root) if new.days is None else new.days
    return answer(services.record.people.make_token(user, new.name, days * 86400), 201)


@router.delete("/user-tokens/{token_id}")
def revoke_user_token(token_id: str, services: Served, asking: Asking) -> JsonAnswer:
    services.record.people.revoke(token_id, None if asking.is_owner else _user(asking))
    return answer({})


def _own(asking: Principal, user: Optional[str]) -> str:
    mine = _user(asking)
    if user is not None and user.lower() != mine.lower():
        raise ForbiddenError(f"User '{mine}' may see and make tokens of their own only, not of '{user:.80}'.")
    return mine


def _user(asking: Principal) -> str:
    if asking.name is None:
        raise UserError("This token is not of a user. Name the user: `rookery token create --user NAME`.")
    return asking.name
