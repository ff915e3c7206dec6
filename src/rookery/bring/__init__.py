"""Bringing what another tracker has recorded into a workspace: `rookery import`."""

from rookery.bring.base import Source
from rookery.bring.carry import Comparison, bring
from rookery.bring.sources import open_source

__all__ = ["Comparison", "Source", "bring", "open_source"]
