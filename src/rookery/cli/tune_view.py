"""A tuning as text: how far it is, and its children, the best first."""

from __future__ import annotations

from typing import Any

from rookery.cli.table import Column, make_table, print_table
from rookery.cli.terminal import clean, say, width
from rookery.cli.words import duration, number

__all__ = ["headline", "leader_board", "print_tuning", "watch_table"]

ENDED = ("Completed", "Failed", "Canceled")


def print_tuning(tuning: dict[str, Any], most: int = 10, indent: int = 0) -> None:
    """Plan and leader board."""
    say(" " * indent + headline(tuning))
    columns, rows = leader_board(tuning, most)
    print_table(columns, rows, indent=indent)
    hidden = len(tuning["trials"]) - len(rows)
    if hidden > 0:
        say(f"{' ' * indent}… {hidden} more")
    shown = sorted(tuning["importances"].items(), key=lambda pair: -pair[1])
    if shown:
        say(
            " " * indent
            + "what mattered: "
            + ", ".join(f"{clean(name.lstrip('-'))} {share:.0%}" for name, share in shown)
        )


def headline(tuning: dict[str, Any]) -> str:
    """One line: how many, how far, and the best."""
    trials = tuning["trials"]
    ended = sum(t["status"] in ENDED for t in trials)
    stopped = sum(bool(t["stopped"]) for t in trials)
    best = next((t for t in trials if t["rank"] == 1), None)
    words = f"{tuning['status']}: {ended} of {tuning['max_total_runs']} children ended, {len(trials) - ended} under way"
    words += f", {stopped} stopped early" if stopped else ""
    if best is None:  # the commonest mistake is a metric that the script does not log
        return words + (f"; none has logged {clean(tuning['metric'])}" if ended else "")
    return f"{words}; best {clean(tuning['metric'])} {number(best['best'])}"


def leader_board(tuning: dict[str, Any], most: int, is_short: bool = False) -> tuple[list[Column], list[list[str]]]:
    """Columns and rows: a column for every parameter. Short: of a child's id only what comes after the tuning's."""
    names = list(tuning["space"])
    columns = [
        Column("#", right=True),
        Column("RUN"),
        Column("STATUS", is_status=True),
        Column(clean(tuning["metric"]).upper()[:20], right=True),
        Column("LAST", rank=5, right=True),
        Column("INTERVALS", rank=6, right=True),
        *(Column(clean(name.lstrip("-")), rank=2 + min(i, 2), right=True) for i, name in enumerate(names)),
        Column("TIME", rank=7, right=True),
        Column("STOPPED BECAUSE", rank=1, shrinks=True),
    ]
    far = len(tuning["trials"]) + 1
    ordered = sorted(tuning["trials"], key=lambda t: (t["rank"] or far, t["number"]))
    rows = [_row(t, names) for t in ordered[:most]]
    if is_short:
        columns[1], rows = Column("CHILD"), [[row[0], f"_{t['number']}", *row[2:]] for row, t in zip(rows, ordered)]
    return columns, rows


def watch_table(tuning: dict[str, Any], most: int) -> Any:
    """The same for a screen that is drawn again and again, and may be narrow."""
    from rich.console import Group
    from rich.text import Text

    columns, rows = leader_board(tuning, most, is_short=True)
    table, _ = make_table(columns, rows, width())
    return Group(Text(headline(tuning)), table)


def _row(trial: dict[str, Any], names: list[str]) -> list[str]:
    return [
        str(trial["rank"] or ""),
        clean(trial["run_id"]),
        trial["status"],
        "" if trial["best"] is None else number(trial["best"]),
        "" if trial["last"] is None else number(trial["last"]),
        str(trial["intervals"]),
        *(_value(trial["parameters"].get(name)) for name in names),
        duration(trial["duration_s"]) if trial["duration_s"] is not None else "",
        clean(trial["stopped"]),
    ]


def _value(value: Any) -> str:
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else clean(value)
