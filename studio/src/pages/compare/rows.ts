/** The table of differences: which rows are shown, and which cells stand out. No React. */
import type { Comparison } from "@/api/types";
import { formatDuration, formatNumber, formatTime } from "@/components/format";
import { rowLabel, SECTIONS, type Section } from "./compared";

export interface ShownRow {
  key: string;
  label: string;
  section: Section;
  differs: boolean;
  cells: { text: string; isOther: boolean; isNumber: boolean }[];
}

/** Cells that differ from the first run's stand out. */
export function toRows(comparison: Comparison, isOnlyDiffering: boolean, wanted: string): ShownRow[] {
  const find = wanted.trim().toLowerCase();
  return SECTIONS.flatMap((section) =>
    comparison[section]
      .filter((row) => (!isOnlyDiffering || row.differs) && (!find || rowLabel(section, row.name).toLowerCase().includes(find)))
      .map((row) => ({
        key: `${section}:${row.name}`,
        label: rowLabel(section, row.name),
        section,
        differs: row.differs,
        cells: row.values.map((value) => ({ text: words(section, row.name, value), isOther: row.differs && JSON.stringify(value) !== JSON.stringify(row.values[0]), isNumber: typeof value === "number" })),
      })),
  );
}

function words(section: Section, name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (section === "attributes" && name === "created_utc") return formatTime(String(value));
  if (section === "attributes" && name === "duration_s") return formatDuration(Number(value));
  if (typeof value === "number") return formatNumber(value, 6);
  if (section === "metrics" && typeof value === "string") return formatNumber(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
