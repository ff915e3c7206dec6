import { EmptyState } from "@/components/EmptyState";
import styles from "./Runs.module.css";

interface Props {
  isFiltered: boolean;
  view: string;
  onClear: () => void;
}

/** No rows: because of the filters, because the bin is empty, or because nothing was ever run. */
export function RunsEmpty({ isFiltered, view, onClear }: Props) {
  const clear = (words: string) => (
    <button type="button" className={styles.link} onClick={onClear}>
      {words}
    </button>
  );
  if (isFiltered) {
    return (
      <EmptyState icon="filter" title="No run fits">
        <p>Runs may be there that these filters leave out. {clear("Take all filters away")}</p>
      </EmptyState>
    );
  }
  if (view) {
    return (
      <EmptyState icon={view === "bin" ? "trash" : "folder"} title={view === "bin" ? "The bin is empty" : "Nothing is archived"}>
        <p>
          {view === "bin" ? "Runs that are deleted stay here for a while." : "Runs that are archived are kept here, out of the way."} {clear("Back to the runs")}
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="runs" title="No runs yet">
      <p>Submit a script; it shows up here while it runs.</p>
      <pre>
        <code>rookery run train.py</code>
      </pre>
    </EmptyState>
  );
}
