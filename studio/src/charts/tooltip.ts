/** The box beside the cross. Plain DOM: it follows the pointer, and React need not know. */
import type uPlot from "uplot";
import { formatDuration, formatNumber, formatTime } from "@/components/format";
import type { Curve } from "./Chart";

const MOST = 12;

export function placeTooltip(plot: uPlot, tip: HTMLElement, curves: readonly Curve[], color: (index: number) => string, x: "number" | "time" | "duration"): void {
  const { left, top, idx } = plot.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0) {
    tip.hidden = true;
    return;
  }
  const at = plot.data[0][idx] as number;
  const rows = curves
    .map((curve, index) => ({ curve, index, value: valueNear(plot.data[index + 1] as (number | null)[], idx), isShown: plot.series[index + 1]?.show }))
    .filter((row) => row.isShown && !row.curve.isGhost && row.value !== null)
    .sort((a, b) => (b.value as number) - (a.value as number));
  tip.replaceChildren(element("div", "head", x === "time" ? formatTime(at) : x === "duration" ? formatDuration(at) : formatNumber(at)));
  for (const { curve, index, value } of rows.slice(0, MOST)) {
    const row = element("div", "row");
    const swatch = element("i");
    swatch.style.background = color(index);
    row.append(swatch, element("span", "", curve.label), element("b", "", formatNumber(value)));
    tip.append(row);
  }
  if (rows.length > MOST) tip.append(element("div", "head", `and ${rows.length - MOST} more`));
  tip.hidden = false;
  const box = plot.root.getBoundingClientRect();
  const over = plot.over.getBoundingClientRect();
  const near = over.left - box.left + left;
  const isRight = near + tip.offsetWidth + 24 > box.width;
  tip.style.transform = `translate(${Math.max(0, isRight ? near - tip.offsetWidth - 12 : near + 12)}px, ${Math.max(0, Math.min((top ?? 0) + 8, box.height - tip.offsetHeight))}px)`;
}

/** Curves need not have a value at every x: the nearest one that is not far. */
function valueNear(values: (number | null)[], at: number): number | null {
  for (let step = 0; step < 50; step += 1) {
    const found = values[at - step] ?? values[at + step];
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

function element(kind: string, name = "", text = ""): HTMLElement {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}
