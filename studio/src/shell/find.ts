/** How well words fit what was typed: all of it must occur, in order; beginnings of words and short texts are better. */

export function worth(text: string, typed: string): number {
  const low = text.toLowerCase();
  let total = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = low.indexOf(word);
    if (at < 0) return 0;
    total += (at === 0 ? 3 : /[\s_./-]/.test(low[at - 1] as string) ? 2 : 1) + word.length / (low.length + 1);
  }
  return total || 0.5;
}

export function best<T>(items: readonly T[], typed: string, text: (item: T) => string, most = 8): T[] {
  return items
    .map((item) => ({ item, worth: worth(text(item), typed) }))
    .filter((each) => each.worth > 0)
    .sort((a, b) => b.worth - a.worth)
    .slice(0, most)
    .map((each) => each.item);
}
