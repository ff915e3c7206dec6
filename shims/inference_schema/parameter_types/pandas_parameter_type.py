"""Tables of pandas."""

import pandas as pd

from inference_schema.parameter_types.abstract_parameter_type import AbstractParameterType

__all__ = ["PandasParameterType"]

ORIENTS = ("split", "records", "index", "columns", "values", "table")


class PandasParameterType(AbstractParameterType):
    """Args: orient: how rows are sent (pandas' word). enforce_shape: columns must be the sample's. apply_column_names: rows are lists, and
    get the sample's column names."""

    def __init__(
        self, input_sample, enforce_column_type=True, enforce_shape=True, apply_column_names=False, orient="records"
    ):
        if not isinstance(input_sample, (pd.DataFrame, pd.Series)):
            raise Exception("Invalid sample input provided, must provide a sample Pandas Dataframe.")
        if orient not in ORIENTS:
            raise Exception("orient {!r} is none of {}.".format(orient, ", ".join(ORIENTS)))
        AbstractParameterType.__init__(self, input_sample)
        self.enforce_column_type, self.enforce_shape = enforce_column_type, enforce_shape
        self.apply_column_names, self.orient = apply_column_names, orient

    def deserialize_input(self, input_data):
        if isinstance(input_data, (pd.DataFrame, pd.Series)):
            return input_data
        if not isinstance(input_data, (list, dict)):
            raise ValueError("a table must be a list or an object, not {}.".format(type(input_data).__name__))
        frame = self._frame(input_data)
        sample = self.sample_input
        if isinstance(sample, pd.Series):
            return frame.iloc[:, 0]
        if self.enforce_shape and len(frame.columns) != len(sample.columns):
            raise ValueError(
                "a table with {} columns was given; it must have {}: {}.".format(
                    len(frame.columns), len(sample.columns), ", ".join(map(str, sample.columns))
                )
            )
        if self.apply_column_names:
            frame.columns = sample.columns
        if self.enforce_column_type:
            known = {c: t for c, t in sample.dtypes.items() if c in frame.columns}
            frame = frame.astype(known)
        return frame

    def _frame(self, given):
        if isinstance(given, dict) and self.orient == "split":
            return pd.DataFrame(given.get("data"), index=given.get("index"), columns=given.get("columns"))
        if isinstance(given, dict) and self.orient == "table":
            return pd.DataFrame(given.get("data"))
        if isinstance(given, dict) and self.orient == "index":
            return pd.DataFrame.from_dict(given, orient="index")
        return pd.DataFrame(given)

    def input_to_swagger(self):
        sample = self.sample_input.to_frame() if isinstance(self.sample_input, pd.Series) else self.sample_input
        columns = {str(c): _type(t) for c, t in sample.dtypes.items()}
        rows = sample.head(1).astype(object).where(sample.head(1).notna(), None).to_dict(orient="records")
        return {"type": "array", "items": {"type": "object", "properties": columns}, "example": rows}


def _type(dtype):
    kind = getattr(dtype, "kind", "O")
    if kind in "iu":
        return {"type": "integer"}
    if kind == "f":
        return {"type": "number"}
    return {"type": "boolean"} if kind == "b" else {"type": "string"}
