/** The sentence that says why a line was refused: until it is closed, or the next thing is done, or a while has passed. */
import { useCallback, useEffect, useState } from "react";

const SHOWN_MS = 15_000;

export function useRefusal() {
  const [said, setSaid] = useState<{ sentence: string; node: string } | null>(null);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const say = useCallback((sentence: string, node: string) => setSaid({ sentence, node }), []);
  const clear = useCallback(() => setSaid(null), []);
  return { sentence: said?.sentence ?? null, node: said?.node ?? null, say, clear };
}
