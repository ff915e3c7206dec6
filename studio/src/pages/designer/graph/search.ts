/** Finding modules in the palette, and nodes on the canvas. Pure. */
import { titleOf, type Card, type Catalog, type Graph } from "./model";

export interface Category {
  name: string;
  cards: Card[];
}

/** Cards by category in the order in which they come; with words only those that have them all, best first within. */
export function palette(cards: readonly Card[], text: string): Category[] {
  const words = wordsOf(text);
  const found = new Map<string, Card[]>();
  for (const card of cards) {
    if (!words.every((word) => haystack(card).includes(word))) continue;
    const list = found.get(card.category);
    if (list) list.push(card);
    else found.set(card.category, [card]);
  }
  return [...found].map(([name, list]) => ({ name, cards: words.length ? [...list].sort((a, b) => worth(b, words) - worth(a, words)) : list }));
}

function haystack(card: Card): string {
  return [card.title, card.name, card.category, card.help, ...card.parameters.map((each) => each.label)].join(" ").toLowerCase();
}

function worth(card: Card, words: readonly string[]): number {
  const title = card.title.toLowerCase();
  return words.filter((word) => title.includes(word)).length * 2 + (title.startsWith(words[0] ?? "") ? 1 : 0);
}

/** Nodes whose title, id, module or comment has all the words; `status:failed`, `compute:gpu` narrow it down. */
export function findNodes(graph: Graph, catalog: Catalog, text: string, statusOf: (id: string) => string | null = () => null): string[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  return Object.entries(graph.nodes)
    .filter(([id, node]) => {
      const all = [titleOf(node, catalog), id, node.module ?? "", node.comment ?? ""].join(" ").toLowerCase();
      return words.every((word) => {
        const [key, value] = word.split(":", 2) as [string, string | undefined];
        if (key === "status" && value) return (statusOf(id) ?? "").toLowerCase().startsWith(value);
        if (key === "compute" && value) return String(node.run_settings?.compute ?? graph.default_compute ?? "").toLowerCase().startsWith(value);
        return all.includes(word);
      });
    })
    .map(([id]) => id);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}
