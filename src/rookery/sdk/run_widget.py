"""The live widget of a run, by anywidget: what it shows is in `run_widget.js`, all of it from this package."""

from __future__ import annotations

import os
from typing import Any

import anywidget
import traitlets

from rookery.sdk.run_watch import Watch, look_at_run

__all__ = ["RunWidget", "make_widget"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def _read(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as f:
        return f.read()


class RunWidget(anywidget.AnyWidget):
    """`seen` is what `run_watch.look_at_run` returns; it changes as the run goes on."""

    _esm = _read("run_widget.js")
    _css = _read("run_widget.css")
    seen = traitlets.Dict().tag(sync=True)


def make_widget(run: Any) -> RunWidget:
    """A widget that follows the run until its end; the first look is there when it is shown."""
    client, url = run.experiment.workspace.client, run.get_portal_url()
    widget = RunWidget(seen=look_at_run(client, run.id, url))
    watch = Watch(client, run.id, lambda seen: setattr(widget, "seen", seen), url)
    watch.last = dict(widget.seen)
    widget.watch = watch
    if not widget.seen["is_over"]:
        watch.start()
    return widget
