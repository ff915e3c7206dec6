/** Values of then and now as one line each, and what a person should know first. No React. */
import type { Answer } from "@/api/client";

type Reproducible = Answer<"check_reproduce">;

export function valueWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.every((each) => typeof each !== "object") ? value.join(" ") : JSON.stringify(value);
  return JSON.stringify(value);
}

export interface Verdict {
  tone: "good" | "warn" | "bad";
  title: string;
}

export function verdict(found: Reproducible): Verdict {
  if (!found.possible) return { tone: "bad", title: "It cannot be run again as it was" };
  const matter = found.differences.filter((each) => each.matters).length;
  if (matter > 0) return { tone: "warn", title: `It can be run again, but ${matter === 1 ? "one thing that matters differs" : `${matter} things that matter differ`}` };
  return { tone: "good", title: found.differences.length ? "It can be run again; what differs does not matter" : "It can be run again as it was" };
}

/** What matters first, then in the keeper's order. */
export function sortDifferences(differences: Reproducible["differences"]): Reproducible["differences"] {
  return [...differences].sort((a, b) => Number(b.matters) - Number(a.matters));
}
