"""When a schedule runs next. Pure: a recurrence, when it began, and the moment to look from."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta, timezone
from typing import Any, Optional
from zoneinfo import ZoneInfo

from rookery.errors import UserError
from rookery.spec.time_zones import WINDOWS_ZONES

__all__ = ["FREQUENCIES", "check_recurrence", "next_time"]

FREQUENCIES = ("Minute", "Hour", "Day", "Week", "Month")
WEEK_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def check_recurrence(given: Any) -> dict[str, Any]:
    """The recurrence, or UserError that says what is wrong."""
    if not isinstance(given, dict):
        raise UserError(f"A recurrence is an object with frequency and interval, not {type(given).__name__}.")
    if given.get("frequency") not in FREQUENCIES:
        raise UserError(f"frequency={given.get('frequency')!r:.40}. Allowed: {', '.join(FREQUENCIES)}.")
    interval = given.get("interval")
    if isinstance(interval, bool) or not isinstance(interval, int) or interval < 1:
        raise UserError(f"interval={interval!r:.40}. Give a whole number from 1.")
    for name, most in (("hours", 23), ("minutes", 59)):
        values = given.get(name) or []
        if not isinstance(values, list) or any(not isinstance(v, int) or not 0 <= v <= most for v in values):
            raise UserError(f"{name}={values!r:.60}. Give a list of whole numbers from 0 to {most}.")
        if values and given["frequency"] not in ("Day", "Week"):
            raise UserError(f"{name} count with the frequencies Day and Week only, not with {given['frequency']}.")
    days = given.get("week_days") or []
    if not isinstance(days, list) or any(day not in WEEK_DAYS for day in days):
        raise UserError(f"week_days={days!r:.80}. Give some of {', '.join(WEEK_DAYS)}.")
    if days and given["frequency"] != "Week":
        raise UserError(f"week_days count with the frequency Week only, not with {given['frequency']}.")
    zone_of(given.get("time_zone"))
    if given.get("start_time"):
        _start(given, datetime.now(timezone.utc))
    return dict(given)


def next_time(recurrence: dict[str, Any], began: datetime, after: datetime) -> datetime:
    """The first moment later than `after`. Without a start time the first is when the schedule began."""
    start = _start(recurrence, began)
    every, frequency = int(recurrence["interval"]), recurrence["frequency"]
    hours, minutes, days = (recurrence.get(name) or [] for name in ("hours", "minutes", "week_days"))
    if start > after and not (hours or minutes or days):
        return start.astimezone(timezone.utc)
    if frequency in ("Minute", "Hour"):
        size = timedelta(minutes=every) if frequency == "Minute" else timedelta(hours=every)
        steps = (after - start) // size + 1
        return (start + steps * size).astimezone(timezone.utc)
    if frequency == "Month":
        return _next_month(start, every, after)
    return _next_day(start, every * (7 if frequency == "Week" else 1), after, hours, minutes, days)


def zone_of(name: Any) -> Any:
    """The zone of a name of Windows' or of IANA's."""
    if not name:
        return timezone.utc
    try:
        return ZoneInfo(WINDOWS_ZONES.get(str(name), str(name)))
    except Exception:
        raise UserError(f"time_zone={name!r:.60} is not known here. Give an IANA name such as Europe/Berlin.") from None


def _start(recurrence: dict[str, Any], began: datetime) -> datetime:
    given, zone = recurrence.get("start_time"), zone_of(recurrence.get("time_zone"))
    if not given:
        return began.astimezone(zone)
    try:
        found = datetime.fromisoformat(str(given).replace("Z", "+00:00"))
    except ValueError:
        raise UserError(f"start_time={given!r:.60}. Give it as 2026-11-16T20:00:00.") from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _next_month(start: datetime, every: int, after: datetime) -> datetime:
    months = max(0, (after.year - start.year) * 12 + after.month - start.month - every)
    months -= months % every
    while True:
        year, month = divmod(start.month - 1 + months, 12)
        day = min(start.day, calendar.monthrange(start.year + year, month + 1)[1])
        found = start.replace(year=start.year + year, month=month + 1, day=day)
        if found > after:
            return found.astimezone(timezone.utc)
        months += every


def _next_day(
    start: datetime, every: int, after: datetime, hours: list[int], minutes: list[int], days: list[str]
) -> datetime:
    begins = after if after > start else start
    local = begins.astimezone(start.tzinfo)
    first = start - timedelta(days=start.weekday()) if days else start
    passed = max(0, (local.date() - first.date()).days - every)
    passed -= passed % every
    clock = [(h, m) for h in sorted(hours or [start.hour]) for m in sorted(minutes or [start.minute])]
    offsets = sorted(WEEK_DAYS.index(day) for day in days) or [0]
    while True:
        for offset in offsets:
            date = first.date() + timedelta(days=passed + offset)
            for hour, minute in clock:
                found = datetime(date.year, date.month, date.day, hour, minute, tzinfo=start.tzinfo)
                if not (hours or minutes):
                    found = found.replace(second=start.second, microsecond=start.microsecond)
                if found > after and found >= start:
                    return found.astimezone(timezone.utc)
        passed += every


def first_time(recurrence: Optional[dict[str, Any]], began: datetime) -> datetime:
    """When it runs for the first time: at once, unless it says when."""
    if recurrence is None:
        return began
    if recurrence.get("start_time") or any(recurrence.get(name) for name in ("hours", "minutes", "week_days")):
        return next_time(recurrence, began, began)
    return began
