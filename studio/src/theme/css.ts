/** The tokens as CSS: light by default, dark where the system asks for it, either where the person has chosen. */
import { colors, series, sizes, type Theme } from "./tokens.ts";

export function tokensCss(): string {
  const shared = Object.entries(sizes).map(([name, value]) => `--${name}:${value};`);
  return [
    `:root{color-scheme:light;${shared.join("")}${properties("light")}}`,
    `@media (prefers-color-scheme: dark){:root:not([data-theme="light"]){color-scheme:dark;${properties("dark")}}}`,
    `:root[data-theme="dark"]{color-scheme:dark;${properties("dark")}}`,
  ].join("\n");
}

function properties(theme: Theme): string {
  const named = Object.entries(colors[theme]).map(([name, value]) => `--${name}:${value};`);
  return [...named, ...series[theme].map((value, index) => `--series-${index + 1}:${value};`)].join("");
}
