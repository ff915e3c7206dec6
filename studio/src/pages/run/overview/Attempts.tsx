import { Card } from "@/components/Card";
import { Pill, type Tone } from "@/components/StatusPill";
import { Ago, Elapsed } from "@/components/Time";
import { Words } from "@/components/Words";
import { plural } from "@/components/format";
import type { IconName } from "@/components/Icon";
import { endWords, whereWords } from "../cause";
import type { Run } from "../tabs";
import styles from "./Overview.module.css";

const RESULTS: Record<string, { word: string; tone: Tone; icon: IconName }> = {
  completed: { word: "Completed", tone: "good", icon: "completed" },
  failed: { word: "Failed", tone: "bad", icon: "failed" },
  lost: { word: "Lost", tone: "warn", icon: "warning" },
  canceled: { word: "Canceled", tone: "idle", icon: "canceled" },
};

/** Every try that got nodes, the last first: how it ended, and why. */
export function Attempts({ run }: { run: Run }) {
  return (
    <Card title="Attempts" isFlush testId="run-attempts">
      <ol className={styles.attempts}>
        {[...run.attempts].reverse().map((attempt) => {
          const result = RESULTS[attempt.result ?? ""] ?? { word: "Goes on", tone: "busy" as const, icon: "running" as const };
          return (
            <li key={attempt.attempt}>
              <div className={styles.first}>
                <strong>Attempt {attempt.attempt}</strong>
                <Pill {...result} />
                <span className={styles.about}>
                  {plural(attempt.nodes.length, "node")} · <Elapsed start={attempt.started_utc} end={attempt.ended_utc} /> · <Ago time={attempt.started_utc} />
                </span>
              </div>
              {attempt.cause && (
                <p className={styles.cause}>
                  <Words text={attempt.cause.summary} />
                  <span className={styles.about}>{[whereWords({ ...attempt.cause, attempt: 1 }), endWords(attempt.cause)].filter(Boolean).join(" · ")}</span>
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
