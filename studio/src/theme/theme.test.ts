import { describe, expect, it } from "vitest";
import { tokensCss } from "./css";
import { colors, series, type Color, type Theme } from "./tokens";

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const TEXT: [Color, Color[]][] = [
  ["ink", ["ground", "surface", "raised", "sunken", "accent-soft", "bad-soft", "warn-soft", "mark"]],
  ["soft", ["ground", "surface", "raised", "sunken", "bad-soft"]],
  ["faint", ["surface", "raised"]],
  ["accent", ["ground", "surface", "accent-soft"]],
  ["on-accent", ["accent"]],
  ["good", ["surface", "good-soft"]],
  ["bad", ["surface", "bad-soft"]],
  ["warn", ["surface", "warn-soft"]],
  ["busy", ["surface", "busy-soft"]],
  ["idle", ["surface", "idle-soft"]],
];

describe.each(["light", "dark"] as Theme[])("the %s theme", (theme) => {
  it.each(TEXT.flatMap(([ink, grounds]) => grounds.map((ground) => [ink, ground] as const)))("can be read: %s on %s", (ink, ground) => {
    expect(contrast(colors[theme][ink], colors[theme][ground])).toBeGreaterThanOrEqual(4.5);
  });
  it("has curves that stand out from the ground", () => {
    for (const color of series[theme]) expect(contrast(color, colors[theme].surface)).toBeGreaterThanOrEqual(3);
  });
});

describe("tokensCss", () => {
  it("knows the system's wish and the person's", () => {
    const css = tokensCss();
    expect(css).toContain("prefers-color-scheme: dark");
    expect(css).toContain(':root[data-theme="dark"]');
    expect(css).toContain("--series-10:");
  });
});
