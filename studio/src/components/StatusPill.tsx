import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";
import styles from "./StatusPill.module.css";

export type Tone = "good" | "bad" | "warn" | "busy" | "idle";

interface Props {
  /** The word; never colour alone. */
  word: string;
  tone: Tone;
  icon: IconName;
  title?: string;
  className?: string;
}

/** A state as icon, word and colour. `statuses.ts` of a page says which for its words. */
export function Pill({ word, tone, icon, title, className }: Props) {
  return (
    <span className={classes(styles.pill, styles[tone], className)} title={title}>
      <Icon name={icon} size={14} />
      {word}
    </span>
  );
}

const STATUSES: Record<string, { word: string; tone: Tone; icon: IconName; says: string }> = {
  NotStarted: { word: "Not started", tone: "idle", icon: "waiting", says: "The record has it; the keeper has not looked at it yet" },
  Starting: { word: "Starting", tone: "busy", icon: "waiting", says: "The keeper checks what it needs" },
  Preparing: { word: "Preparing", tone: "busy", icon: "environment", says: "Its environment is being built or fetched" },
  Queued: { word: "Queued", tone: "warn", icon: "waiting", says: "It waits for nodes" },
  Provisioning: { word: "Scaling", tone: "busy", icon: "compute", says: "Nodes are being brought up for it" },
  Running: { word: "Running", tone: "busy", icon: "running", says: "Its ranks run" },
  Finalizing: { word: "Finalizing", tone: "busy", icon: "download", says: "The ranks are gone, outputs are being collected" },
  CancelRequested: { word: "Canceling", tone: "warn", icon: "stop", says: "Somebody asked to stop it" },
  NotResponding: { word: "Not responding", tone: "warn", icon: "warning", says: "Its agent has not been heard of for a while" },
  Completed: { word: "Completed", tone: "good", icon: "completed", says: "Every rank ended with 0" },
  Failed: { word: "Failed", tone: "bad", icon: "failed", says: "The cause is on its page" },
  Canceled: { word: "Canceled", tone: "idle", icon: "canceled", says: "It was stopped because somebody asked" },
};

export const RUN_STATUSES = Object.keys(STATUSES);
const OVER = ["Completed", "Failed", "Canceled"];
/** Statuses that are asked for together. */
export const STATUS_GROUPS = {
  waiting: ["NotStarted", "Starting", "Preparing", "Queued", "Provisioning"],
  running: ["Running", "Finalizing", "CancelRequested", "NotResponding"],
};

export function isOver(status: string): boolean {
  return OVER.includes(status);
}

export function statusWord(status: string): string {
  return STATUSES[status]?.word ?? status;
}

/** A run's status. */
export function StatusPill({ status, reason, isStale }: { status: string; reason?: string | null; isStale?: boolean }) {
  const known = STATUSES[status] ?? { word: status, tone: "idle" as const, icon: "info" as const, says: "" };
  if (isStale && !isOver(status)) {
    return <Pill word={`${known.word}, stale`} tone="warn" icon="warning" title="Nothing has come from its client for a while" />;
  }
  return <Pill word={known.word} tone={known.tone} icon={known.icon} title={reason || known.says} />;
}
