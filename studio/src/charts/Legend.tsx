import type { Curve } from "./Chart";
import styles from "./Chart.module.css";

interface Props {
  curves: readonly Curve[];
  colors: readonly string[];
  hidden: ReadonlySet<string>;
  onHide: (hidden: Set<string>) => void;
  onFocus: (index: number | null) => void;
}

/** The names of the curves: a click hides one, with Alt all others. */
export function Legend({ curves, colors, hidden, onHide, onFocus }: Props) {
  const toggle = (label: string, isAlone: boolean) => {
    if (isAlone) {
      const others = curves.map((curve) => curve.label).filter((each) => each !== label);
      onHide(others.every((each) => hidden.has(each)) ? new Set() : new Set(others));
      return;
    }
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    onHide(next);
  };
  return (
    <ul className={styles.legend}>
      {curves.map(
        (curve, index) =>
          !curve.isGhost && (
            <li key={curve.label}>
              <button
                type="button"
                className={styles.key}
                aria-pressed={!hidden.has(curve.label)}
                title={curve.title ?? curve.label}
                onClick={(event) => toggle(curve.label, event.altKey)}
                onMouseEnter={() => onFocus(index)}
                onMouseLeave={() => onFocus(null)}
              >
                <span className={styles.swatch} style={{ background: colors[(curve.color ?? index) % colors.length] }} />
                {curve.label}
              </button>
            </li>
          ),
      )}
    </ul>
  );
}
