/** Parts of the studio are loaded when they are first needed: a network that fails for a moment is asked again. No React. */

const WAITS_MS = [300, 1500];

/** The same loading, tried again twice. What is gone for good (another version of the studio is served) fails a little later. */
export function patiently<T>(load: () => Promise<T>, waits: readonly number[] = WAITS_MS): () => Promise<T> {
  return async () => {
    for (const wait of waits) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    return load();
  };
}
