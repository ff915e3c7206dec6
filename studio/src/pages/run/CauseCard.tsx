import { useState } from "react";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Icon } from "@/components/Icon";
import { CodeView } from "@/components/LineView";
import { Ago } from "@/components/Time";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { endWords, kindWords, shortCause, whereWords } from "./cause";
import styles from "./CauseCard.module.css";
import type { Run } from "./tabs";

type Cause = NonNullable<Run["error"]>;

/** The cause of failure, before everything else: what, where, how it ended, the traceback, what to try. */
export function CauseCard({ cause, run, isOpen }: { cause: Cause; run: Run; isOpen: boolean }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isShown = chosen ?? isOpen;
  const ends = endWords(cause);
  const where = whereWords({ ...cause, attempt: run.attempt > 1 ? cause.attempt : 1 });
  const text = cause.traceback?.trimEnd() || (cause.last_lines ?? []).join("\n");
  const advice = cause.advice ?? [];
  const brief = shortCause(cause.summary);
  const isCut = brief !== cause.summary && !cause.summary.split(/\s+/).every((word) => brief.includes(word) || text.includes(word));
  return (
    <section className={styles.card} aria-labelledby="cause-title" data-testid="run-cause">
      <header className={styles.head}>
        <Icon name="failed" size={18} />
        <div className={styles.words}>
          <h2 id="cause-title" data-testid="run-cause-summary">
            <Words text={brief} />
          </h2>
          <p className={styles.where}>
            {cause.kind !== "UserError" && <span>{kindWords(cause.kind)}</span>}
            {where && <span data-testid="run-cause-where">{where}</span>}
            {ends && <span>{ends}</span>}
            {cause.time && (
              <span>
                <Ago time={cause.time} />
              </span>
            )}
            {cause.collateral && <span>fell because another rank had</span>}
          </p>
        </div>
        {(text || advice.length > 0 || isCut) && (
          <Button variant="quiet" icon={isShown ? "up" : "down"} aria-expanded={isShown} aria-label={isShown ? "Less of the cause" : "Details of the cause"} onClick={() => setChosen(!isShown)}>
            <span className={styles.word}>{isShown ? "Less" : "Details"}</span>
          </Button>
        )}
      </header>
      {isShown && (
        <div className={styles.body}>
          {isCut && (
            <p className={styles.full} data-testid="run-cause-full">
              <Words text={cause.summary} />
            </p>
          )}
          {advice.length > 0 && (
            <div className={styles.advice} data-testid="run-cause-advice">
              <h3>What to try</h3>
              <ul>
                {advice.map((line) => (
                  <li key={line}>
                    <Words text={line} />
                  </li>
                ))}
              </ul>
            </div>
          )}
          {text && (
            <div className={styles.text}>
              <div className={styles.textHead}>
                <h3>{cause.traceback ? "Traceback" : "Last lines"}</h3>
                <CopyButton text={`${cause.summary}\n\n${text}`} label="Copy summary and traceback" />
                {cause.log && (
                  <Link to={`/runs/${encodeURIComponent(run.id)}?tab=logs&log=${encodeURIComponent(cause.log)}`} data-testid="run-cause-log">
                    Open {cause.log}
                  </Link>
                )}
              </div>
              <CodeView label={cause.traceback ? "Traceback" : "Last lines"} text={text} maxHeight="20rem" tone={cause.traceback ? lastIsError(text) : undefined} />
            </div>
          )}
          {cause.traceback && (cause.last_lines ?? []).length > 0 && (
            <details className={styles.more}>
              <summary>Last lines of its log</summary>
              <CodeView label="Last lines" text={(cause.last_lines ?? []).join("\n")} maxHeight="16rem" />
            </details>
          )}
        </div>
      )}
    </section>
  );
}

/** The exception itself stands at the end of a traceback. */
function lastIsError(text: string): (index: number) => "error" | undefined {
  const last = text.split("\n").findLastIndex((line) => /^\S/.test(line));
  return (index) => (index === last ? "error" : undefined);
}
