"""What every type of an argument can do."""

__all__ = ["AbstractParameterType"]


class AbstractParameterType(object):
    """Args: sample_input: one value as callers send it."""

    def __init__(self, sample_input):
        self.sample_input = sample_input
        self.sample_data_type = type(sample_input)

    def deserialize_input(self, input_data):
        """What JSON says → what the function takes."""
        raise NotImplementedError

    def input_to_swagger(self):
        """The JSON schema of what callers send."""
        raise NotImplementedError

    def supported_versions(self):
        return ["2.0", "3.0", "3.1"]
