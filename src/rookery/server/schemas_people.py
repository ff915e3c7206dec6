"""Bodies about people, sessions and webhooks."""

from __future__ import annotations

from typing import Optional

from rookery.server.schemas import Given

__all__ = ["Login", "LoginForToken", "PasswordChange", "UserChange", "UserNew", "UserTokenNew", "WebhookNew"]


class UserNew(Given):
    name: str
    role: str = "contributor"
    password: Optional[str] = None


class UserChange(Given):
    role: Optional[str] = None
    password: Optional[str] = None


class PasswordChange(Given):
    old: str
    new: str


class UserTokenNew(Given):
    name: str = "token"
    user: Optional[str] = None
    days: Optional[float] = None


class Login(Given):
    name: str
    password: str


class LoginForToken(Login):
    token_name: str = "login"
    days: Optional[float] = None


class WebhookNew(Given):
    url: str
    events: list[str]
