/** What events have made stale is asked anew together, after a pause; never while the same is being asked. No React. */

export interface Asker {
  /** How many questions below this key are under way. */
  isFetching: (key: unknown[]) => number;
  invalidate: (key: unknown[]) => void;
}

export const GATHER_MS = 700; // events of this long are answered with one question
const MOST_PUT_OFF = 20; // pauses that answering waits for a question under way

export function makeGather({ isFetching, invalidate }: Asker): { add: (keys: unknown[][]) => void; stop: () => void } {
  const stale = new Map<string, unknown[]>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let putOff = 0;
  const answer = () => {
    timer = null;
    // A question under way is not cut off and asked again: one that takes longer than the pause would never be answered.
    if (putOff < MOST_PUT_OFF && [...stale.values()].some((key) => isFetching(key) > 0)) {
      putOff += 1;
      timer = setTimeout(answer, GATHER_MS);
      return;
    }
    putOff = 0;
    const found = [...stale.values()];
    stale.clear();
    for (const key of found) invalidate(key);
  };
  return {
    add: (keys) => {
      for (const key of keys) stale.set(JSON.stringify(key), key);
      if (stale.size > 0) timer ??= setTimeout(answer, GATHER_MS);
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
