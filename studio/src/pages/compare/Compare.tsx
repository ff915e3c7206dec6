import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { call } from "@/api/client";
import { useEvents } from "@/api/live";
import type { Comparison } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { RunPicker } from "../run/RunPicker";
import { MOST_RUNS, readIds, readList, writeList } from "./address";
import { toShown, type ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { Curves } from "./Curves";
import { Differences } from "./Differences";
import { Parallel } from "./Parallel";
import { Pictures } from "./Pictures";
import { RunChips } from "./RunChips";
import { Scatter } from "./Scatter";

const AGAIN_MS = 1000; // events of this long are answered with one question

/** Several runs side by side: curves over each other, what differs, how what was set went with what came out. */
export default function Compare() {
  const [search, change] = useSearch();
  const ids = useMemo(() => readIds(search), [search]);
  const [isPicking, setPicking] = useState(false);
  const isEnough = ids.length >= 2;
  useAskAnew(ids);
  const asked = useQuery({
    queryKey: ["compare", ids, "table"],
    queryFn: ({ signal }) => call("compare_runs", { body: { runs: ids }, signal }),
    enabled: isEnough,
    placeholderData: (before) => before,
  });
  const comparison = asked.data;
  const choose = (next: string[]) => change({ runs: next.join(","), hide: writeList(readList(search, "hide").filter((id) => next.includes(id))) }, { push: true });
  return (
    <div className={styles.page} data-testid="compare">
      <header className={styles.head}>
        <h1>{isEnough ? `Compare ${plural(ids.length, "run")}` : "Compare runs"}</h1>
        <Button icon="plus" disabled={ids.length >= MOST_RUNS} title={ids.length >= MOST_RUNS ? `At most ${MOST_RUNS} at once` : undefined} onClick={() => setPicking(true)} data-testid="compare-add">
          Add a run
        </Button>
      </header>
      {!isEnough && <TooFew ids={ids} />}
      {isEnough && asked.error && !comparison && (
        <>
          <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />
          <Ids ids={ids} onChoose={choose} />
        </>
      )}
      {isEnough && !asked.error && !comparison && <Skeleton lines={8} />}
      {isEnough && comparison && <Loaded comparison={comparison} onChoose={choose} />}
      {isPicking && (
        <RunPicker
          title="Add which run?"
          without={ids}
          onClose={() => setPicking(false)}
          onPick={(run) => {
            setPicking(false);
            choose([...ids, run.id]);
          }}
        />
      )}
    </div>
  );
}

const PARTS: { id: string; label: string; Part: (props: { comparison: Comparison; runs: readonly ShownRun[] }) => ReactNode }[] = [
  { id: "curves", label: "Curves", Part: Curves },
  { id: "differences", label: "Differences", Part: Differences },
  { id: "parallel", label: "Parallel coordinates", Part: Parallel },
  { id: "scatter", label: "Scatter", Part: Scatter },
  { id: "pictures", label: "Pictures", Part: Pictures },
];

function Loaded({ comparison, onChoose }: { comparison: Comparison; onChoose: (ids: string[]) => void }) {
  const [search, change] = useSearch();
  const all = useMemo(() => toShown(comparison.runs), [comparison.runs]);
  const hidden = useMemo(() => new Set(readList(search, "hide")), [search]);
  const shown = useMemo(() => all.filter((run) => !hidden.has(run.id)), [all, hidden]);
  const selected = PARTS.find((part) => part.id === search.get("tab")) ?? (PARTS[0] as (typeof PARTS)[number]);
  return (
    <>
      <RunChips
        runs={all}
        hidden={hidden}
        onHide={(next) => change({ hide: writeList(next) })}
        onRemove={(id) => onChoose(all.map((run) => run.id).filter((each) => each !== id))}
      />
      <div>
        <Tabs
          label="Ways to compare"
          selected={selected.id}
          // A word to find means something else in another tab; which runs and which are hidden stays.
          onSelect={(tab) => change({ tab: tab === "curves" ? null : tab, q: null, zoom: null }, { push: true })}
          tabs={PARTS.map(({ id, label, Part }) => ({ id, label, content: () => <Part comparison={comparison} runs={shown} /> }))}
        />
      </div>
    </>
  );
}

function TooFew({ ids }: { ids: readonly string[] }) {
  return (
    <Card>
      <EmptyState icon="compare" title={ids.length === 1 ? "One run is not enough" : "Choose at least two runs"}>
        <p>
          Add runs here, or mark some in the table of <Link to="/runs">runs</Link> and choose <strong>Compare</strong>. Up to {MOST_RUNS} at once.
        </p>
      </EmptyState>
    </Card>
  );
}

/** When one of the runs is not there, it can still be taken out. */
function Ids({ ids, onChoose }: { ids: readonly string[]; onChoose: (ids: string[]) => void }) {
  return (
    <ul className={styles.ids}>
      {ids.map((id) => (
        <li key={id}>
          <code>{id}</code>
          <Button icon="close" onClick={() => onChoose(ids.filter((each) => each !== id))}>
            Take it out
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Something happened to one of the runs: what is shown is asked for anew, at most once a second. */
function useAskAnew(ids: readonly string[]): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  useEvents((event) => {
    if (!event.data.run || !ids.includes(String(event.data.run))) return;
    timer.current ??= setTimeout(() => {
      timer.current = null;
      void client.invalidateQueries({ queryKey: ["compare"] });
    }, AGAIN_MS);
  });
}
