import styles from "./Tags.module.css";

/** Tags as they are everywhere: the key, and its value where it has one. */
export function Tags({ tags }: { tags: Readonly<Record<string, unknown>> }) {
  return (
    <ul className={styles.tags} aria-label="Tags">
      {Object.entries(tags).map(([key, value]) => (
        <li key={key}>
          {key}
          {value ? <b>{String(value)}</b> : null}
        </li>
      ))}
    </ul>
  );
}
