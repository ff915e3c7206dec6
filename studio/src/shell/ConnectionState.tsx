import { useConnection } from "@/api/live";
import { classes } from "@/components/classes";
import styles from "./Foot.module.css";

const WORDS = {
  live: ["Live", "Changes are shown as they happen"],
  connecting: ["Connecting", "The stream of events is being opened"],
  away: ["Reconnecting", "The keeper cannot be reached now. This page asks every few seconds and goes on by itself; `rookery studio` starts a keeper that has left"],
} as const;

/** Whether what is shown is live. */
export function ConnectionState({ isSmall }: { isSmall: boolean }) {
  const state = useConnection();
  const [word, meaning] = WORDS[state];
  return (
    <span className={classes(styles.state, styles[state])} role="status" title={meaning} data-testid="connection" data-state={state}>
      <i aria-hidden="true" />
      <span className={isSmall ? "unseen" : undefined}>{word}</span>
    </span>
  );
}
