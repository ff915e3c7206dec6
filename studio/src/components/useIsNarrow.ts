/** Whether the screen is a phone's: the same width at which styles change. */
import { useSyncExternalStore } from "react";

const narrow = typeof matchMedia === "undefined" ? null : matchMedia("(max-width: 720px)");

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow?.addEventListener("change", listener);
      return () => narrow?.removeEventListener("change", listener);
    },
    () => narrow?.matches ?? false,
  );
}
