import { useId, type ReactNode } from "react";
import styles from "./Card.module.css";
import { classes } from "./classes";

interface Props {
  title?: ReactNode;
  /** At the right of the title. */
  actions?: ReactNode;
  children: ReactNode;
  isFlush?: boolean;
  className?: string;
  testId?: string;
}

export function Card({ title, actions, children, isFlush, className, testId }: Props) {
  const id = useId();
  return (
    <section className={classes(styles.card, className)} aria-labelledby={title ? id : undefined} data-testid={testId}>
      {title && (
        <header className={styles.head}>
          <h2 id={id}>{title}</h2>
          {actions}
        </header>
      )}
      <div className={classes(styles.body, isFlush && styles.flush)}>{children}</div>
    </section>
  );
}

/** Names and values. Long values wrap; empty ones are left out by the caller. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
