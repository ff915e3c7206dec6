/** What stands below an axis of time: in the chosen zone, with 24 hours or 12 as the reader's language has it. No React, no uPlot. */

const DAY = 86_400;

/** A label for each place: the time, and in a second line the day, where it is the first or another than before. `step` is between places. */
export function timeLabels(places: readonly number[], step: number, zone: string | undefined, locale?: string): string[] {
  const isDays = step >= DAY;
  const above = isDays ? dayFormat(zone, locale, step) : clockFormat(zone, locale, step);
  const below = new Intl.DateTimeFormat(locale, isDays ? { timeZone: zone, year: "numeric" } : { timeZone: zone, day: "numeric", month: "short" });
  let last = "";
  return places.map((place) => {
    const date = new Date(place * 1000);
    const day = below.format(date);
    const isNew = day !== last;
    last = day;
    return isNew ? `${above.format(date)}\n${day}` : above.format(date);
  });
}

function clockFormat(zone: string | undefined, locale: string | undefined, step: number): Intl.DateTimeFormat {
  const has24 = (new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hourCycle ?? "h23").startsWith("h2");
  return new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    hour: has24 ? "2-digit" : "numeric",
    minute: "2-digit",
    second: step < 60 ? "2-digit" : undefined,
    fractionalSecondDigits: step < 1 ? 3 : undefined,
  });
}

function dayFormat(zone: string | undefined, locale: string | undefined, step: number): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { timeZone: zone, day: step < 28 * DAY ? "numeric" : undefined, month: "short" });
}
