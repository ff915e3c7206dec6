import { formatDuration, formatTime } from "@/components/format";
import { isOver, statusWord } from "@/components/StatusPill";
import { useNow } from "@/components/Time";
import type { Overview } from "../tabs";
import { phasesText, phaseTone, toParts } from "./phases";
import styles from "./Overview.module.css";

/** Where the time went: each phase as a part of one bar, then in numbers. The last one grows while the run lives. */
export function PhaseBar({ overview }: { overview: Overview }) {
  const isLive = !isOver(overview.run.status);
  return isLive ? <Growing overview={overview} /> : <Bar phases={overview.phases} />;
}

function Growing({ overview }: { overview: Overview }) {
  // By this page's clock since the answer came: the keeper's may differ.
  const passed = Math.max(0, useNow() / 1000 - overview.time);
  const phases = overview.phases.map((phase, index, all) => (index === all.length - 1 ? { ...phase, end: phase.end + passed, duration_s: phase.duration_s + passed } : phase));
  return <Bar phases={phases} />;
}

function Bar({ phases }: { phases: Overview["phases"] }) {
  const parts = toParts(phases);
  const total = phases.reduce((sum, phase) => sum + phase.duration_s, 0);
  if (parts.length === 0) return <p className="soft">It has not begun.</p>;
  return (
    <div data-testid="run-phases">
      <div className={styles.bar} role="img" aria-label={phasesText(phases, statusWord)}>
        {parts.map((part, index) => (
          <span
            key={index}
            data-tone={phaseTone(part.status)}
            style={{ width: `${part.width}%` }}
            title={`${statusWord(part.status)} ${formatDuration(part.duration_s)}, from ${formatTime(part.start)}${part.reason ? `\n${part.reason}` : ""}`}
          />
        ))}
      </div>
      <ul className={styles.phases}>
        {parts.map((part, index) => (
          <li key={index}>
            <i data-tone={phaseTone(part.status)} />
            <span>{statusWord(part.status)}</span>
            <b className="numbers">{formatDuration(part.duration_s)}</b>
          </li>
        ))}
        <li>
          <span>in all</span>
          <b className="numbers">{formatDuration(total)}</b>
        </li>
      </ul>
    </div>
  );
}
