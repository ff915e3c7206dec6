"""Execute Python Script."""

from __future__ import annotations

from typing import Annotated, Optional

from rookery_tabular.modules.categories import PYTHON
from rookery_vision.declare import code, input_port, module, output_port

__all__ = ["SCRIPT", "execute_python_script"]

SCRIPT = """import pandas as pd


# The two inputs, as tables; None where nothing is connected. Return one table, or two.
def azureml_main(dataframe1=None, dataframe2=None):
    return dataframe1,
"""


@module("Execute Python Script", category=PYTHON, help="Runs a script of yours on one or two tables.")
def execute_python_script(
    dataset1: Annotated[
        Optional[str], input_port("Dataset1", "DataFrameDirectory", help="Becomes dataframe1.", is_optional=True)
    ],
    dataset2: Annotated[
        Optional[str], input_port("Dataset2", "DataFrameDirectory", help="Becomes dataframe2.", is_optional=True)
    ],
    script_bundle: Annotated[
        Optional[str],
        input_port(
            "Script bundle",
            "ZipFile",
            "AnyDirectory",
            help="A zip or a folder with modules that the script imports.",
            is_optional=True,
        ),
    ],
    result_dataset: Annotated[
        str, output_port("Result dataset", "DataFrameDirectory", help="The first table returned.")
    ],
    result_dataset2: Annotated[
        str, output_port("Result dataset2", "DataFrameDirectory", help="The second one; empty where there is none.")
    ],
    python_script: Annotated[
        str, code("Python script", help="Defines azureml_main(dataframe1, dataframe2), which returns one table or two.")
    ] = SCRIPT,
) -> None:
    from rookery_tabular.scripting import run_script

    run_script(python_script, dataset1, dataset2, script_bundle, result_dataset, result_dataset2)
