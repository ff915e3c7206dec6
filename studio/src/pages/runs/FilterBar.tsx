import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { KnownNames } from "@/api/types";
import { Checkbox, Field, SearchInput, Select } from "@/components/Field";
import { Icon } from "@/components/Icon";
import { Popup } from "@/components/Menu";
import { RUN_STATUSES, STATUS_GROUPS, statusWord } from "@/components/StatusPill";
import { navigate } from "@/router/location";
import { ConditionForm } from "./ConditionForm";
import { describe, formatConditions, parseConditions, type Condition } from "./conditions";
import styles from "./Filters.module.css";

const WAIT_MS = 250; // after the last key, before the keeper is asked

interface Props {
  experiment?: string;
  search: URLSearchParams;
  change: (patch: Record<string, string | null>) => void;
  names: KnownNames | undefined;
  /** More buttons at its end. */
  children?: ReactNode;
}

/** Words, experiment, status, and any number of conditions: all of it in the address. */
export function FilterBar({ experiment, search, change, names, children }: Props) {
  const conditions = parseConditions(search.get("where"));
  const set = (next: Condition[]) => change({ where: formatConditions(next) });
  const view = search.get("view") ?? "";
  return (
    <div className={styles.bar} role="search" aria-label="Filter runs">
      <SearchText search={search} change={change} />
      <ExperimentChoice experiment={experiment} />
      <StatusChoice status={search.get("status") ?? ""} change={change} />
      <Popup label="Filter" icon="filter" testId="runs-filter">
        {(close) => (
          <ConditionForm
            names={names}
            onDone={(condition) => {
              close();
              set([...conditions, condition]);
            }}
          />
        )}
      </Popup>
      <Popup label="View" icon="screen" testId="runs-view">
        <div className={styles.form}>
          <Field label="Which runs">
            {(ids) => (
              <Select {...ids} value={view} onChange={(event) => change({ view: event.target.value })} data-testid="runs-which">
                <option value="">Those in use</option>
                <option value="archive">Archived ones</option>
                <option value="bin">The bin (deleted ones)</option>
              </Select>
            )}
          </Field>
          <Checkbox label="Child runs too" checked={search.get("children") === "yes"} onChange={(event) => change({ children: event.target.checked ? "yes" : null })} />
        </div>
      </Popup>
      {children}
      <Chips search={search} change={change} conditions={conditions} set={set} names={names} />
    </div>
  );
}

type ChangeProps = Pick<Props, "search" | "change">;

function SearchText({ search, change }: ChangeProps) {
  const asked = search.get("q") ?? "";
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  useEffect(() => {
    if (text === asked) return;
    const timer = setTimeout(() => change({ q: text }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text, asked, change]);
  return <SearchInput className={styles.text} label="Name, id or description" value={text} onChange={(event) => setText(event.target.value)} data-testid="runs-search" />;
}

function ExperimentChoice({ experiment }: { experiment?: string }) {
  const experiments = useQuery({ queryKey: keys.experiments, queryFn: ({ signal }) => call("list_experiments", { signal }) });
  const known = experiments.data?.experiments ?? [];
  const go = (name: string) => navigate((name ? `/experiments/${encodeURIComponent(name)}` : "/runs") + location.search);
  return (
    <Select className={styles.choice} aria-label="Experiment" value={experiment ?? ""} onChange={(event) => go(event.target.value)} data-testid="runs-experiment">
      <option value="">All experiments</option>
      {experiment && !known.some((each) => each.name === experiment) && <option value={experiment}>{experiment}</option>}
      {known.map((each) => (
        <option key={each.name} value={each.name}>
          {`${each.name} (${each.shown_count})`}
        </option>
      ))}
    </Select>
  );
}

function StatusChoice({ status, change }: { status: string; change: Props["change"] }) {
  const isOther = status && !RUN_STATUSES.includes(status) && !Object.values(STATUS_GROUPS).some((group) => group.join(",") === status);
  return (
    <Select className={styles.choice} aria-label="Status" value={status} onChange={(event) => change({ status: event.target.value })} data-testid="runs-status">
      <option value="">Any status</option>
      <option value={STATUS_GROUPS.running.join(",")}>Running now</option>
      <option value={STATUS_GROUPS.waiting.join(",")}>Waiting</option>
      {RUN_STATUSES.map((each) => (
        <option key={each} value={each}>
          {statusWord(each)}
        </option>
      ))}
      {isOther && <option value={status}>{status.split(",").map(statusWord).join(", ")}</option>}
    </Select>
  );
}

interface ChipsProps extends ChangeProps {
  conditions: Condition[];
  set: (next: Condition[]) => void;
  names: KnownNames | undefined;
}

/** What leaves runs out and stands in no field: each can be changed or taken away. */
function Chips({ search, change, conditions, set, names }: ChipsProps) {
  const others = (
    [
      ["compute", `Compute is ${search.get("compute")}`],
      ["user", `Submitted by ${search.get("user")}`],
      ["children", "Child runs too"],
      ["view", search.get("view") === "bin" ? "In the bin" : "Archived"],
    ] as const
  ).filter(([key]) => search.get(key));
  if (conditions.length + others.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {others.map(([key, words]) => (
        <li key={key} className={styles.chip}>
          <span>{words}</span>
          <TakeAway words={words} onClick={() => change({ [key]: null })} />
        </li>
      ))}
      {conditions.map((condition, at) => (
        <li key={`${at} ${describe(condition)}`} className={styles.chip} data-testid="filter-chip">
          <Popup label={describe(condition)} align="left">
            {(close) => (
              <ConditionForm
                names={names}
                initial={condition}
                onDone={(next) => {
                  close();
                  set(conditions.map((each, index) => (index === at ? next : each)));
                }}
              />
            )}
          </Popup>
          <TakeAway words={describe(condition)} onClick={() => set(conditions.filter((_, index) => index !== at))} />
        </li>
      ))}
    </ul>
  );
}

function TakeAway({ words, onClick }: { words: string; onClick: () => void }) {
  return (
    <button type="button" className={styles.away} aria-label={`Take away: ${words}`} title="Take away" onClick={onClick}>
      <Icon name="close" size={12} />
    </button>
  );
}
