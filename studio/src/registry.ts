/** All pages: each has a file `pages/<page>/route.ts`, found here by itself, so that adding one touches no shared list. */
import type { ComponentType } from "react";
import type { IconName } from "@/components/Icon";

export interface PageProps {
  params: Record<string, string>;
}

export interface Command {
  /** What is shown in the palette, a verb first: "Go to runs", "Compare selected runs". */
  title: string;
  /** Other words that find it. */
  words?: string;
  icon?: IconName;
  /** Shown, and bound: "g r" is g and then r. */
  keys?: string;
  run: () => void;
}

export interface Page {
  /** `/runs/:id`; `:x` takes one part, `*x` the rest. */
  path: string;
  /** For the tab and the breadcrumbs. A function where it depends on the address. */
  title: string | ((params: Record<string, string>) => string);
  /** The breadcrumbs before it, as paths of other pages. `/` is always first. */
  above?: (params: Record<string, string>) => { title: string; to: string }[];
  load: () => Promise<{ default: ComponentType<PageProps> }>;
  /** In the sidebar, sorted by `order`. Home 10, Runs 20, Models 40, Environments 50, Compute 60, Settings 90. */
  nav?: { label: string; icon: IconName; order: number; keys?: string };
  /** Hidden from whoever has less. */
  least?: "contributor" | "owner";
}

export interface Registered {
  pages: Page[];
  commands?: Command[];
}

/** What a route.ts exports as its default; here only for the types. */
export function definePages(registered: Registered): Registered {
  return registered;
}

const found = import.meta.glob<{ default: Registered }>("./pages/*/route.ts", { eager: true });

export const registered: Registered[] = Object.keys(found)
  .sort()
  .map((path) => (found[path] as { default: Registered }).default);
export const pages: Page[] = registered.flatMap((each) => each.pages);
