import { IconButton } from "@/components/Button";
import { StatusPill } from "@/components/StatusPill";
import { Link } from "@/router/Link";
import { useTheme } from "@/theme/theme";
import { series as palette } from "@/theme/tokens";
import type { ShownRun } from "./compared";
import styles from "./Compare.module.css";

interface Props {
  runs: readonly ShownRun[];
  hidden: ReadonlySet<string>;
  onHide: (hidden: Set<string>) => void;
  onRemove: (id: string) => void;
}

/** The runs, each in the colour that it has everywhere below: hide one, take it out, go to its page. */
export function RunChips({ runs, hidden, onHide, onRemove }: Props) {
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    onHide(next);
  };
  return (
    <ul className={styles.chips} aria-label="Runs that are compared" data-testid="compare-runs">
      {runs.map((run) => (
        <li key={run.id} data-row={run.id} data-hidden={hidden.has(run.id) || undefined}>
          <button type="button" className={styles.eye} aria-pressed={!hidden.has(run.id)} aria-label={`Show ${run.label}`} title={hidden.has(run.id) ? "Show it" : "Hide it"} onClick={() => toggle(run.id)}>
            <Swatch run={run} />
          </button>
          <Link to={`/runs/${encodeURIComponent(run.id)}`} title={`${run.experiment} · ${run.id}`}>
            {run.label}
          </Link>
          <StatusPill status={run.status} />
          <IconButton icon="close" label={`Take ${run.label} out`} onClick={() => onRemove(run.id)} />
        </li>
      ))}
    </ul>
  );
}

export function Swatch({ run }: { run: ShownRun }) {
  const color = useRunColor()(run);
  return (
    <svg className={styles.swatch} width={18} height={10} aria-hidden="true">
      <line x1={1} x2={17} y1={5} y2={5} stroke={color} strokeWidth={4} strokeLinecap={run.isDashed ? "butt" : "round"} strokeDasharray={run.isDashed ? "5 3" : undefined} />
    </svg>
  );
}

export function useRunColor(): (run: ShownRun) => string {
  const theme = useTheme();
  return (run) => palette[theme][run.color % palette[theme].length] as string;
}
