/** Colours, type and space as data. Styles use them as custom properties (`--ink`, `--space-2`), charts take them from here. */

export type Theme = "light" | "dark";

/** One name, one use. Every pair of text and ground that occurs together has a contrast of at least 4.5 : 1 (theme.test.ts). */
export const colors = {
  light: {
    ground: "#f6f5f1", // the page
    surface: "#ffffff", // cards, tables, dialogs
    raised: "#fbfaf8", // heads of tables, code
    sunken: "#eeece6", // tracks, hover of a row
    ink: "#1d2226", // text
    soft: "#565f67", // second text
    faint: "#69727a", // third text, icons
    line: "#dedbd2", // borders
    strong: "#c3beb2", // borders of fields
    accent: "#0f6b5c",
    "accent-soft": "#e0efeb",
    "on-accent": "#ffffff",
    focus: "#0b7f6c",
    good: "#1a6b35",
    "good-soft": "#e3f2e6",
    bad: "#a4262c",
    "bad-soft": "#fbe9e8",
    warn: "#7d5000",
    "warn-soft": "#fbf0d9",
    busy: "#1557a8",
    "busy-soft": "#e4eefa",
    idle: "#59636b",
    "idle-soft": "#ebe9e4",
    shade: "rgb(24 28 32 / 34%)", // behind dialogs
    mark: "#ffe58a", // found text
  },
  dark: {
    ground: "#121517",
    surface: "#1a1e21",
    raised: "#1f2427",
    sunken: "#262b2f",
    ink: "#e7eaec",
    soft: "#a9b2b9",
    faint: "#8f99a1",
    line: "#2d3338",
    strong: "#454d54",
    accent: "#5ccbb5",
    "accent-soft": "#17332e",
    "on-accent": "#08201b",
    focus: "#6fdcc6",
    good: "#74d08f",
    "good-soft": "#173220",
    bad: "#ff9d95",
    "bad-soft": "#3b2021",
    warn: "#eebd62",
    "warn-soft": "#372b12",
    busy: "#85b8f5",
    "busy-soft": "#182c45",
    idle: "#a9b2b9",
    "idle-soft": "#292f33",
    shade: "rgb(0 0 0 / 58%)",
    mark: "#6b5600",
  },
} as const satisfies Record<Theme, Record<string, string>>;

export type Color = keyof (typeof colors)["light"];

/** Curves in a chart, told apart also by those who see few colours; the same hue at the same place in both themes. */
export const series = {
  light: ["#0f6b5c", "#c2571a", "#3b62c4", "#a32f72", "#7a6a00", "#5b3fa8", "#00799c", "#8a4b2a", "#4b7d19", "#5c6670"],
  dark: ["#5ccbb5", "#ff9e5e", "#8fb0ff", "#f18bc0", "#d8c64a", "#b79cff", "#5fc9ea", "#d9a17e", "#a1d36a", "#aab4bd"],
} as const satisfies Record<Theme, readonly string[]>;

/** Everything else that styles share, by the name of its custom property. */
export const sizes = {
  "font-text": 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  "font-code": 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  "text-xs": "0.75rem",
  "text-s": "0.8125rem",
  "text-m": "0.875rem",
  "text-l": "1rem",
  "text-xl": "1.25rem",
  "space-1": "0.25rem",
  "space-2": "0.5rem",
  "space-3": "0.75rem",
  "space-4": "1rem",
  "space-5": "1.5rem",
  "space-6": "2rem",
  "radius-s": "5px",
  "radius-m": "8px",
  "radius-l": "12px",
  row: "34px", // of a table
  control: "32px", // buttons and fields
  "shadow-1": "0 1px 2px rgb(0 0 0 / 7%)",
  "shadow-2": "0 2px 6px rgb(0 0 0 / 8%), 0 12px 32px rgb(0 0 0 / 14%)",
  quick: "120ms ease-out",
} as const;
