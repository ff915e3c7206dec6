/** What a copy is called; `copy_name` of rookery.spec.names does the same for runs that become drafts. */

const COPY = /(?<=\S)\s+\(copy(?: (\d{1,6}))?\)$/;
const MOST = 255;

/** "birds (copy)" of "birds", "birds (copy 2)" of that or where that is taken; never "(copy) (copy)". */
export function copyName(name: string, taken: readonly string[]): string {
  let base = name.trim();
  let number = 0;
  for (let found = COPY.exec(base); found; found = COPY.exec(base)) {
    number = Math.max(number, Number(found[1] ?? 1));
    base = base.slice(0, found.index);
  }
  for (;;) {
    number += 1;
    const ending = number === 1 ? " (copy)" : ` (copy ${number})`;
    const made = base.slice(0, MOST - ending.length) + ending;
    if (!taken.includes(made)) return made;
  }
}
