import styles from "./Skeleton.module.css";

/** Grey lines where text will be. Only after a moment, so that quick answers do not flicker. */
export function Skeleton({ lines = 3, height }: { lines?: number; height?: number }) {
  return (
    <div className={styles.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className={styles.line} style={{ width: `${[92, 74, 86, 60][index % 4]}%`, height }} />
      ))}
    </div>
  );
}
