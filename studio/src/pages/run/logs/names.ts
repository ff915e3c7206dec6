/** The logs of a run: which to open first, in what order, by what name. No React. */

export interface Log {
  name: string;
  size: number;
}

export interface Choice {
  folder: string;
  logs: { name: string; label: string; size: number }[];
}

const RANK = /(?:std_log|70_driver_log)(?:_(\d+))?\.txt$/;

/** By folder, what the script wrote first; ranks in their order. */
export function toChoices(logs: readonly Log[]): Choice[] {
  const folders = new Map<string, Choice>();
  for (const log of [...logs].sort(inOrder)) {
    const slash = log.name.lastIndexOf("/");
    const folder = slash < 0 ? "" : log.name.slice(0, slash);
    const choice = folders.get(folder) ?? { folder, logs: [] };
    folders.set(folder, choice);
    const rank = rankOf(log.name);
    choice.logs.push({ ...log, label: rank === null ? log.name.slice(slash + 1) : `Rank ${rank}` });
  }
  return [...folders.values()];
}

/** The one asked for, else the one that tells why it failed, else the first rank's. */
export function firstLog(logs: readonly Log[], asked: string | null, cause: string | null | undefined): string | null {
  for (const wanted of [asked, cause]) {
    const found = wanted && logs.find((log) => log.name === wanted);
    if (found) return found.name;
  }
  return [...logs].sort(inOrder)[0]?.name ?? null;
}

/** The number of a rank whose log this is. */
export function rankOf(name: string): number | null {
  const found = RANK.exec(name);
  return found ? Number(found[1] ?? 0) : null;
}

function inOrder(a: Log, b: Log): number {
  return worth(a) - worth(b) || (rankOf(a.name) ?? 0) - (rankOf(b.name) ?? 0) || a.name.localeCompare(b.name, "en", { numeric: true });
}

function worth(log: Log): number {
  if (rankOf(log.name) !== null) return log.size > 0 ? 0 : 1;
  return log.name.startsWith("user_logs/") ? 2 : log.name.startsWith("system_logs/") ? 4 : 3;
}
