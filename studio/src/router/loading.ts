/** Parts of the studio are loaded when they are first needed: a network that fails for a moment is asked again. No React. */

const WAITS_MS = [300, 1500];
/** Stylesheets that did not come. Vite asks for each once: a part that is loaded again would be shown without them. */
const missing = new Set<HTMLLinkElement>();

if (typeof document !== "undefined") {
  const note = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") missing.add(target);
  };
  document.addEventListener("error", note, { capture: true }); // it does not bubble
}

/** The same loading, tried again twice. What is gone for good (another version of the studio is served) fails a little later. */
export function patiently<T>(load: () => Promise<T>, waits: readonly number[] = WAITS_MS): () => Promise<T> {
  return async () => {
    for (const wait of waits) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, wait));
        await askStylesAgain();
      }
    }
    return load();
  };
}

/** Those that are missing, asked for anew; one that does not come this time either is missing still. */
async function askStylesAgain(): Promise<void> {
  const links = [...missing];
  missing.clear();
  await Promise.all(
    links.map((link) => {
      const again = link.cloneNode() as HTMLLinkElement;
      const settled = new Promise((resolve) => {
        again.addEventListener("load", resolve);
        again.addEventListener("error", resolve);
      });
      link.replaceWith(again);
      return settled;
    }),
  );
}
