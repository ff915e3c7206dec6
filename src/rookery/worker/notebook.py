"""Runs a notebook from its first cell to its last, and keeps it with what it printed. Python 3.6; the environment has nbclient.

    python -m rookery.worker.notebook NOTEBOOK [--output FILE|FOLDER] [--parameter NAME VALUE …]

Parameters are set in a cell of their own, after the one that is tagged `parameters`, or before all others. A value is JSON, else text.
What cells print goes to the log as it comes. The notebook is kept also when a cell fails: with all that was done until then.
"""

import argparse
import json
import keyword
import os
import re
import sys

__all__ = ["NotebookError", "main", "with_parameters"]

TAG, INJECTED = "parameters", "injected-parameters"


class NotebookError(Exception):
    """It could not be run, or one of its cells failed."""


def main(words=None):
    options = _parse(words)
    try:
        import nbclient
        import nbformat
    except ImportError as missing:
        raise NotebookError(
            "The run's environment has no {}. A notebook needs nbclient and ipykernel there: add both to its pip packages.".format(
                missing.name or "nbclient"
            )
        ) from None
    try:
        notebook = nbformat.read(options.notebook, as_version=4)
    except Exception as error:  # whatever a file may be
        raise NotebookError("'{}' is no notebook: {}".format(options.notebook, str(error)[:300])) from None
    source = with_parameters(notebook.cells, dict(options.parameter))
    if source is not None:
        place, text = source
        cell = nbformat.v4.new_code_cell(text, metadata={"tags": [INJECTED]})
        cell.pop("id", None)  # only newer notebooks have one
        notebook.cells.insert(place, cell)
    try:
        _execute(nbclient, notebook, options.notebook)
    finally:
        folder = os.path.dirname(options.output)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(options.output, "w", encoding="utf-8") as f:
            f.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def with_parameters(cells, values):
    """(where, the text of the cell that sets these values); None when there are none."""
    if not values:
        return None
    wrong = [name for name in values if not name.isidentifier() or keyword.iskeyword(name)]
    if wrong:
        raise NotebookError("'{}' cannot be the name of a parameter: it becomes a variable.".format(wrong[0]))
    lines = ["# Parameters"] + ["{} = {!r}".format(name, value) for name, value in values.items()]
    tagged = [i for i, cell in enumerate(cells) if TAG in cell.get("metadata", {}).get("tags", [])]
    return (tagged[0] + 1 if tagged else 0), "\n".join(lines)


def _parse(words):
    parser = argparse.ArgumentParser(prog="python -m rookery.worker.notebook")
    parser.add_argument("notebook")
    parser.add_argument("--output", default="outputs")
    parser.add_argument("--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    options = parser.parse_args(words)
    if options.output == "outputs" or os.path.isdir(options.output):
        options.output = os.path.join(options.output, os.path.basename(options.notebook))
    options.parameter = [(name, _value(text)) for name, text in options.parameter]
    return options


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def _execute(nbclient, notebook, name):
    def process_message(self, msg, *args, **kwargs):
        _show(msg.get("msg_type"), msg.get("content") or {})
        return nbclient.NotebookClient.process_message(self, msg, *args, **kwargs)

    made = type("Client", (nbclient.NotebookClient,), {"process_message": process_message})
    client = made(notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": os.getcwd()}})
    try:
        with client.setup_kernel():
            for index, cell in enumerate(notebook.cells):
                try:
                    client.execute_cell(cell, index)
                except nbclient.exceptions.CellExecutionError as error:
                    raise NotebookError(_words(cell, index, name, error)) from None
                except nbclient.exceptions.DeadKernelError:
                    raise NotebookError("The kernel died in cell {} of {}.".format(index + 1, name)) from None
    except ImportError as missing:
        raise NotebookError(
            "The run's environment has no {}: add ipykernel to its pip packages.".format(missing.name)
        ) from None


def _words(cell, index, name, error):
    """What failed, as its last line says; the whole of it is in the log already."""
    failed = [output for output in cell.get("outputs", []) if output.get("output_type") == "error"]
    what = "{}: {}".format(failed[-1]["ename"], failed[-1]["evalue"]) if failed else str(error).strip()[-500:]
    return "Cell {} of {} failed: {}".format(index + 1, name, what)


def _show(kind, content):
    if kind == "stream":
        text = content.get("text", "")
    elif kind in ("execute_result", "display_data"):
        text = content.get("data", {}).get("text/plain", "") + "\n"
    elif kind == "error":
        text = re.sub("\x1b\\[[0-9;]*m", "", "\n".join(content.get("traceback", []))) + "\n"
    else:
        return
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
