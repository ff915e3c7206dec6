"""What a module is: ports, parameters, the card, running one. Standard library only."""

from rookery_vision.declare.card import Module, module
from rookery_vision.declare.parameters import Parameter, choice, code, columns, integer, number, switch, text
from rookery_vision.declare.ports import DATA_TYPES, Port, input_port, output_port

__all__ = [
    "DATA_TYPES",
    "Module",
    "Parameter",
    "Port",
    "choice",
    "code",
    "columns",
    "input_port",
    "integer",
    "module",
    "number",
    "output_port",
    "switch",
    "text",
]
