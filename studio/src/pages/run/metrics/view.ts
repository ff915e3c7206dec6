/** How the charts are looked at, as it stands in the address. No React. */

export type XAxis = "step" | "time" | "relative";

export interface View {
  x: XAxis;
  smooth: number;
  isLog: boolean;
  /** A curve of each rank that logged a metric. */
  isByRank: boolean;
  wanted: string;
  /** On the x axis: steps, unix seconds, or seconds since the start. */
  zoom: [number, number] | null;
  /** The one that fills the screen. */
  chart: string | null;
  closed: ReadonlySet<string>;
}

export function parseView(search: URLSearchParams): View {
  const x = search.get("x");
  const smooth = Number(search.get("smooth") ?? 0);
  return {
    x: x === "time" || x === "relative" ? x : "step",
    smooth: Number.isFinite(smooth) ? Math.min(0.99, Math.max(0, smooth)) : 0,
    isLog: search.get("scale") === "log",
    isByRank: search.get("by") === "rank",
    wanted: search.get("q") ?? "",
    zoom: parseZoom(search.get("zoom")),
    chart: search.get("chart"),
    closed: new Set((search.get("closed") ?? "").split(",").filter(Boolean)),
  };
}

/** Few digits: an address that people can read, finer than a pixel. */
export function formatZoom(zoom: [number, number] | null): string | null {
  if (!zoom) return null;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.max(1e-9, zoom[1] - zoom[0]))));
  return zoom.map((value) => Number(value.toFixed(Math.min(digits, 12)))).join("..");
}

function parseZoom(text: string | null): [number, number] | null {
  const parts = (text ?? "").split("..").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const [from, to] = parts;
  if (parts.length !== 2 || from === undefined || to === undefined || !Number.isFinite(from) || !Number.isFinite(to) || from >= to) return null;
  return [from, to];
}

/** What to ask the keeper for: a little more than is seen, so that lines run out of the picture instead of ending at its edge. */
export function askedRange(zoom: [number, number] | null, start: number): { from: number | null; to: number | null } {
  if (!zoom) return { from: null, to: null };
  const margin = (zoom[1] - zoom[0]) * 0.05;
  return { from: zoom[0] - margin + start, to: zoom[1] + margin + start };
}
