"""Data sets on the keeper's side: resolved into manifests, read, previewed, made from what runs wrote. See docs/inside/data.md."""

from rookery.data.files import read_entries, read_entry
from rookery.data.outputs import complete_outputs, output_folder, receive_output
from rookery.data.prepare import Prepared, prepare_inputs
from rookery.data.resolve import Resolver, resolver_of

__all__ = [
    "Prepared",
    "Resolver",
    "complete_outputs",
    "output_folder",
    "prepare_inputs",
    "read_entries",
    "read_entry",
    "receive_output",
    "resolver_of",
]
