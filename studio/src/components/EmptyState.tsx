import type { ReactNode } from "react";
import styles from "./EmptyState.module.css";
import { Icon, type IconName } from "./Icon";

interface Props {
  icon: IconName;
  title: string;
  /** What to do first, not only that there is nothing. */
  children?: ReactNode;
}

export function EmptyState({ icon, title, children }: Props) {
  return (
    <div className={styles.empty} data-testid="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      <div className={styles.words}>{children}</div>
    </div>
  );
}
