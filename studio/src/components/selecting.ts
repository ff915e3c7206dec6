/** Which rows are selected after a click or a key. Pure. */

/** One row turned round; with Shift all from the last one touched to this, as this one becomes. */
export function toggleRow(keys: readonly string[], selected: ReadonlySet<string>, at: number, from: number | null): Set<string> {
  const next = new Set(selected);
  const key = keys[at];
  if (key === undefined) return next;
  const isOn = !selected.has(key);
  const [first, last] = from === null ? [at, at] : [Math.min(from, at), Math.max(from, at)];
  for (const each of keys.slice(first, last + 1)) {
    if (isOn) next.add(each);
    else next.delete(each);
  }
  return next;
}

/** Shift and an arrow: the row left and the row reached. */
export function extendTo(keys: readonly string[], selected: ReadonlySet<string>, from: number, to: number): Set<string> {
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  return new Set([...selected, ...keys.slice(first, last + 1)]);
}
