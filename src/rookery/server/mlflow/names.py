"""Names for runs that come without one."""

from __future__ import annotations

import secrets

__all__ = ["invented_name"]

_KINDS = (
    "amiable bold brisk calm candid clever curious dapper eager fearless gentle glossy hardy humble jolly keen lively "
    "lucid mellow merry nimble placid plucky polite proud quiet rapid serene shiny sleek smart spry sturdy swift tidy "
    "trusty upbeat valiant vivid witty"
).split()
_BIRDS = (
    "auk bittern bunting chough coot crane crow curlew dipper dove dunlin eider egret falcon finch gannet godwit goose "
    "grebe grouse gull hawk heron hoopoe ibis jackdaw jay kestrel kite knot lapwing lark linnet magpie martin merlin "
    "nuthatch oriole osprey owl penguin petrel pigeon pipit plover puffin quail rail raven redstart robin rook ruff "
    "shrike siskin snipe sparrow starling stork swallow swan swift teal tern thrush turkey wagtail warbler wren"
).split()


def invented_name() -> str:
    """Such as `brisk-curlew-319`."""
    return f"{secrets.choice(_KINDS)}-{secrets.choice(_BIRDS)}-{secrets.randbelow(1000)}"
