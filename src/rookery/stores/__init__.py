"""Datastores: folders, object stores and HTTP behind one seam. Only the keeper's side uses them. See docs/inside/data.md."""

from rookery.stores.base import Store, StoreFile, StoreWriter
from rookery.stores.opening import KINDS, check_store_spec, open_store, open_url, split_url

__all__ = ["KINDS", "Store", "StoreFile", "StoreWriter", "check_store_spec", "open_store", "open_url", "split_url"]
