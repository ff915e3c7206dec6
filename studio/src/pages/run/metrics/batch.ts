/** Charts ask for one series each; those that ask at the same time are answered by one request. No React. */

export interface Question {
  run: string;
  points: number;
  x: "step" | "time";
  from: number | null;
  to: number | null;
  /** A series of each rank, in place of one of all. */
  by: "rank" | null;
}

export const MOST_NAMES = 20; // that the keeper takes at once

export type Ask<T> = (question: Question, names: string[]) => Promise<T[]>;

/** `load(question, name)`: the series of that name; none where there is none, several by rank. */
export function makeBatch<T extends { name: string }>(ask: Ask<T>, waitMs = 8): (question: Question, name: string) => Promise<T[]> {
  const waiting = new Map<string, { question: Question; names: Map<string, Promise<T[]>>; start: Promise<void> }>();
  return (question, name) => {
    const key = JSON.stringify(question);
    let batch = waiting.get(key);
    if (!batch) {
      const start = new Promise<void>((resolve) =>
        setTimeout(() => {
          waiting.delete(key);
          resolve();
        }, waitMs),
      );
      batch = { question, names: new Map(), start };
      waiting.set(key, batch);
    }
    const known = batch.names.get(name);
    if (known) return known;
    const { names, start } = batch;
    const place = names.size;
    const answer = start
      .then(() => part(names, Math.floor(place / MOST_NAMES), question))
      .then((found) => found.filter((each) => each.name === name));
    names.set(name, answer);
    return answer;
  };

  // The names of a batch go in parts of twenty; whoever comes first in a part sends its request.
  function part(names: Map<string, unknown>, at: number, question: Question): Promise<T[]> {
    const sent = (requests.get(names) ?? new Map<number, Promise<T[]>>()) as Map<number, Promise<T[]>>;
    requests.set(names, sent);
    const known = sent.get(at);
    if (known) return known;
    const made = ask(question, [...names.keys()].slice(at * MOST_NAMES, (at + 1) * MOST_NAMES));
    sent.set(at, made);
    return made;
  }
}

const requests = new WeakMap<object, Map<number, Promise<unknown>>>();
