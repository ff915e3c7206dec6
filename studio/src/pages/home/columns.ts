/** What stands where on the first page, so that no column is bare beside a full one. No React. */
import type { HomeAnswer } from "./Home";

type Lists = Pick<HomeAnswer, "running" | "waiting" | "failed">;

const FEW = 2; // rows of several lines, about as high as compute and disk beside them

/** Where the runs that ended go: below the others while those are few, else beside them, below compute and disk. */
export function whereEnded({ running, waiting, failed }: Lists): "main" | "side" {
  return running.length + waiting.length + failed.length > FEW ? "side" : "main";
}

/** One line in place of empty lists; null where something runs. */
export function quietWords({ running, waiting, failed }: Lists): string | null {
  if (running.length > 0) return null;
  if (waiting.length > 0) return "Nothing runs now.";
  return failed.length > 0 ? "Nothing runs now, and nothing waits." : "Nothing runs now, nothing waits, and none of the last runs failed.";
}
