/** From one marked line to the next, and around at the ends. `places` is sorted. No React. */

export function nextPlace(places: readonly number[], at: number, step: 1 | -1): number | null {
  if (places.length === 0) return null;
  if (step === 1) return places.find((place) => place > at) ?? (places[0] as number);
  return places.findLast((place) => place < at) ?? (places[places.length - 1] as number);
}

/** Which of them one is at, from 1; null when one is at none. */
export function placeOf(places: readonly number[], at: number | null): number | null {
  const found = at === null ? -1 : places.indexOf(at);
  return found < 0 ? null : found + 1;
}
