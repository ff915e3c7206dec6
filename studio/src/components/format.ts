/** Numbers, sizes and times as people read them. Times come as ISO texts in UTC and are shown in the reader's zone. */

import { chosenZone } from "./zone";

const PREFIXES = ["B", "kB", "MB", "GB", "TB", "PB"];

/** 1234567 → "1.2 MB" (decimal, as disks are sold and as `rookery` prints). */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return "–";
  let value = Math.abs(bytes);
  let at = 0;
  while (value >= 999.5 && at < PREFIXES.length - 1) {
    value /= 1000;
    at += 1;
  }
  const shown = at === 0 || value >= 99.95 ? Math.round(value).toString() : value.toFixed(1);
  return `${bytes < 0 ? "−" : ""}${shown} ${PREFIXES[at]}`;
}

/** A metric's value: enough digits to compare, never a wall of them. Takes "NaN", "Infinity" as the keeper writes them. */
export function formatNumber(value: number | string | null | undefined, digits = 5): string {
  if (value === null || value === undefined) return "–";
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof value === "string" && Number.isNaN(number) && value !== "NaN") return value;
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return number.toLocaleString("en-US").replace("-", "−");
  const size = Math.abs(number);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7) ? number.toExponential(digits - 2) : Number(number.toPrecision(digits)).toString();
  return text.replace("-", "−").replace("e−", "e−").replace("e+", "e");
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** 3725 s → "1 h 2 m". The two largest parts. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.max(0, seconds);
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 59.5) return `${Math.round(s)} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** Of a limit that somebody has set: "30 m", where a time that passes would be "30 m 0 s". */
export function formatLimit(seconds: number): string {
  return formatDuration(seconds).replace(/ 0 [smh]$/, "");
}

/** "3 m ago", "in 2 h"; beyond a week the date. */
export function formatAgo(time: string | number | Date, now: Date = new Date()): string {
  const then = toDate(time);
  const seconds = (now.getTime() - then.getTime()) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  if (size > 7 * 86_400) return formatDay(then, undefined, now);
  const words = size < 60 ? `${Math.floor(size)} s` : size < 3600 ? `${Math.floor(size / 60)} m` : size < 86_400 ? `${Math.floor(size / 3600)} h` : `${Math.floor(size / 86_400)} d`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** "2026-11-16 04:05:06 CET": the whole moment, in this zone (the reader's unless given), with the zone's name. */
export function formatTime(time: string | number | Date, zone: string | undefined = chosenZone()): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false, timeZoneName: "short",
  }).formatToParts(toDate(time));
  const of = (kind: string) => parts.find((part) => part.type === kind)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")}:${of("second")} ${of("timeZoneName")}`;
}

/** "16 Nov", with the year when it is another one. */
export function formatDay(time: string | number | Date, zone: string | undefined = chosenZone(), now: Date = new Date()): string {
  const date = toDate(time);
  const isThisYear = date.getUTCFullYear() === now.getUTCFullYear();
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "numeric", month: "short", year: isThisYear ? undefined : "numeric" }).format(date);
}

/** ISO text, unix seconds or Date. The keeper's microseconds are more than a Date holds; the rest is cut. */
export function toDate(time: string | number | Date): Date {
  return time instanceof Date ? time : new Date(typeof time === "number" ? time * 1000 : time);
}

/** "1 run", "3 runs". */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : many}`;
}
