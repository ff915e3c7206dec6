import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { KnownNames } from "@/api/types";
import { Button } from "@/components/Button";
import { Field, Input, Select } from "@/components/Field";
import { RUN_STATUSES, statusWord } from "@/components/StatusPill";
import { FIELDS, KINDS, needsValue, opsFor, opWord, problemOf, sortOf, type Condition, type Kind, type Op } from "./conditions";
import styles from "./Filters.module.css";

interface Props {
  names: KnownNames | undefined;
  /** Where one is changed, not added. */
  initial?: Condition;
  onDone: (condition: Condition) => void;
}

const START: Condition = { kind: "metric", key: "", op: "lt", value: "" };

/** One condition: of what, how compared, with what. Offers names and values that runs have. */
export function ConditionForm({ names, initial = START, onDone }: Props) {
  const [draft, setDraft] = useState(initial);
  const [isTried, setTried] = useState(false);
  const id = useId();
  const { kind, key, op } = draft;
  const sort = sortOf(kind, key);
  const ops = opsFor(kind, key);
  const problem = problemOf(draft);
  const change = (patch: Partial<Condition>) => {
    const next = { ...draft, ...patch };
    const allowed = opsFor(next.kind, next.key);
    const isOther = next.kind !== kind || sortOf(next.kind, next.key) !== sort; // what was asked of a number is not asked of a word
    setDraft({ ...next, op: !isOther && allowed.includes(next.op) ? next.op : (allowed[0] as Op), value: isOther ? "" : next.value });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!problem) onDone({ ...draft, key: key.trim(), value: needsValue(op) ? draft.value.trim() : "" });
  };
  const offered = kind === "attribute" ? [] : (names?.[`${kind}s`] ?? []);
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label="Of what">
        {(ids) => (
          <Select {...ids} value={kind} onChange={(event) => change({ kind: event.target.value as Kind, key: event.target.value === "attribute" ? "name" : "" })} data-testid="filter-kind">
            {Object.entries(KINDS).map(([each, title]) => (
              <option key={each} value={each}>
                {title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={KINDS[kind]}>
        {(ids) =>
          kind === "attribute" ? (
            <Select {...ids} value={key} onChange={(event) => change({ key: event.target.value })} data-testid="filter-key">
              {Object.entries(FIELDS).map(([each, { title }]) => (
                <option key={each} value={each}>
                  {title}
                </option>
              ))}
            </Select>
          ) : (
            <>
              <Input {...ids} list={`${id}-names`} value={key} autoComplete="off" spellCheck={false} placeholder={offered[0] ? `for example ${offered[0].name}` : "its name"} onChange={(event) => change({ key: event.target.value })} data-testid="filter-key" />
              <datalist id={`${id}-names`}>
                {offered.map((each) => (
                  <option key={each.name} value={each.name} />
                ))}
              </datalist>
            </>
          )
        }
      </Field>
      <Field label="Compared how">
        {(ids) => (
          <Select {...ids} value={op} onChange={(event) => change({ op: event.target.value as Op })} data-testid="filter-op">
            {ops.map((each) => (
              <option key={each} value={each}>
                {opWord(each, sort)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {needsValue(op) && (
        <Field label="With" problem={isTried ? (problem ?? undefined) : undefined} hint={op === "in" ? "Several, with commas between them" : undefined}>
          {(ids) => <Value {...ids} id={ids.id} condition={draft} names={names} onChange={(value) => change({ value })} />}
        </Field>
      )}
      {!needsValue(op) && isTried && problem && <p className={styles.problem}>{problem}</p>}
      <div className={styles.formFoot}>
        <Button type="submit" variant="primary" data-testid="filter-add">
          {initial === START ? "Add this filter" : "Change this filter"}
        </Button>
      </div>
    </form>
  );
}

interface ValueProps {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
  condition: Condition;
  names: KnownNames | undefined;
  onChange: (value: string) => void;
}

function Value({ condition, names, onChange, ...ids }: ValueProps) {
  const { kind, key, op, value } = condition;
  const sort = sortOf(kind, key);
  const typed = useDeferredValue(value);
  const known = useQuery({
    queryKey: keys.names({ values: [kind, key, typed] }),
    queryFn: ({ signal }) => call("list_values", { query: { kind, key, text: typed, limit: 50 }, signal }),
    enabled: (kind === "param" || kind === "tag") && key !== "" && op !== "in",
    placeholderData: (before) => before,
  });
  const list = `${ids.id}-values`;
  if (sort === "status" && op !== "in") {
    return (
      <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)} data-testid="filter-value">
        <option value="">Choose one</option>
        {RUN_STATUSES.map((each) => (
          <option key={each} value={each}>
            {statusWord(each)}
          </option>
        ))}
      </Select>
    );
  }
  if (sort === "time") return <Input {...ids} type="datetime-local" value={toLocal(value)} onChange={(event) => onChange(event.target.value ? new Date(event.target.value).toISOString() : "")} data-testid="filter-value" />;
  const offered = kind === "attribute" ? (({ experiment: names?.experiments, compute: names?.computes, user: names?.users } as Record<string, KnownNames["users"] | undefined>)[key] ?? []).map((each) => each.name) : (known.data?.values ?? []).flatMap((each) => each.value ?? []);
  return (
    <>
      <Input {...ids} list={offered.length ? list : undefined} value={value} autoComplete="off" spellCheck={false} inputMode={sort === "number" ? "decimal" : undefined} onChange={(event) => onChange(event.target.value)} data-testid="filter-value" />
      <datalist id={list}>
        {[...new Set(offered)].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

/** ISO in UTC → what a field for a moment takes: the reader's own time, without a zone. */
function toLocal(value: string): string {
  const time = Date.parse(value);
  if (Number.isNaN(time)) return "";
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
