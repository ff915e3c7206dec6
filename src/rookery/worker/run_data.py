"""What a run is given and what it is to fill, as its process finds it in its variables. Python 3.6."""

import os

from rookery.errors import UserError

__all__ = ["InputDatasets", "OutputDatasets"]


class InputDatasets(dict):
    """name → path of an input; in mode direct what `load` makes of its id."""

    def __init__(self, variables=None, load=None):
        super(InputDatasets, self).__init__()
        variables = os.environ if variables is None else variables
        self._load = load
        self._direct = {}
        for part in variables.get("AZUREML_DATASET_ENVIRONMENT_VARS", "").split(","):
            name, _, mode = part.partition(":")
            if not name:
                continue
            value = variables.get("ROOKERY_INPUT_" + name, variables.get(name))
            if mode == "Direct":
                self._direct[name] = value
            super(InputDatasets, self).__setitem__(name, value)

    def __getitem__(self, name):
        if name not in self:
            known = ", ".join(sorted(self)) or "none"
            raise UserError("This run has no input '{}'. Its inputs: {}.".format(name, known))
        if name in self._direct and self._load is not None:
            self[name] = self._load(self._direct.pop(name))
        return super(InputDatasets, self).__getitem__(name)

    def get(self, name, default=None):
        return self[name] if name in self else default

    def items(self):
        return [(name, self[name]) for name in self]

    def values(self):
        return [self[name] for name in self]


class OutputDatasets(dict):
    """name → folder that an output is written to."""

    def __init__(self, variables=None):
        super(OutputDatasets, self).__init__()
        variables = os.environ if variables is None else variables
        for name in variables.get("AZUREML_DATASET_FILE_OUTPUTS", "").split(";"):
            if name:
                self[name] = variables.get("ROOKERY_OUTPUT_" + name, variables.get(name))
