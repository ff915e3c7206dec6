import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { toast, toastError } from "@/components/toasts";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import type { Run, TabProps } from "../tabs";
import styles from "./Reproduce.module.css";
import { sortDifferences, valueWords, verdict } from "./words";

/** Running it again as it was: what would be the same, what would differ, and one button that does it. */
export default function ReproduceTab({ run }: TabProps) {
  const asked = useQuery({ queryKey: keys.run(run.id, "reproduce"), queryFn: ({ signal }) => call("check_reproduce", { path: { run_id: run.id }, signal }) });
  if (!asked.data) return asked.error ? <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} /> : <Skeleton lines={8} />;
  const found = asked.data;
  const said = verdict(found);
  const before = run.properties["rookery.reproduces"];
  return (
    <div className={styles.tab} data-testid="run-reproduce" data-possible={found.possible}>
      <Card>
        <div className={styles.verdict} data-tone={said.tone}>
          <Icon name={said.tone === "good" ? "completed" : said.tone === "warn" ? "warning" : "failed"} size={20} />
          <div>
            <h2>{said.title}</h2>
            {found.why_not.map((why) => (
              <p key={why}>
                <Words text={why} />
              </p>
            ))}
            {before && (
              <p>
                This run reproduces <Link to={`/runs/${encodeURIComponent(before)}`}>{before}</Link>.
              </p>
            )}
          </div>
        </div>
        {found.possible && <Again run={run} />}
      </Card>
      {found.differences.length > 0 && <Differences differences={found.differences} />}
      {found.same.length > 0 && (
        <Card title="What would be the same" testId="reproduce-same">
          <ul className={styles.same}>
            {found.same.map((words) => (
              <li key={words}>
                <Icon name="check" />
                <span>
                  <Words text={words} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

function Differences({ differences }: { differences: Answer<"check_reproduce">["differences"] }) {
  return (
    <Card title="What would differ" isFlush testId="reproduce-differences">
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Then and now">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Then</th>
              <th scope="col">Now</th>
              <th scope="col">Does it matter?</th>
            </tr>
          </thead>
          <tbody>
            {sortDifferences(differences).map((each) => (
              <tr key={each.what}>
                <th scope="row">{each.what}</th>
                <td>
                  <code>{valueWords(each.then)}</code>
                </td>
                <td>
                  <code>{valueWords(each.now)}</code>
                </td>
                <td className={each.matters ? styles.matters : styles.not}>{each.matters ? "yes" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Again({ run }: { run: Run }) {
  const mayRun = useMay("contributor");
  const client = useQueryClient();
  const [compute, setCompute] = useState("");
  const [name, setName] = useState("");
  const targets = useQuery({ queryKey: keys.compute(), queryFn: ({ signal }) => call("list_compute", { signal }), enabled: mayRun });
  const again = useMutation({
    mutationFn: () => call("reproduce_run", { path: { run_id: run.id }, body: { compute: compute || null, display_name: name.trim() || null } }),
    onError: toastError,
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: keys.runs() });
      toast("Submitted: this is the new run");
      navigate(`/runs/${encodeURIComponent(made.id)}`);
    },
  });
  if (!mayRun) return <p className="soft">Who may only read cannot start it.</p>;
  return (
    <form
      className={styles.again}
      onSubmit={(event) => {
        event.preventDefault();
        again.mutate();
      }}
    >
      <Field label="On">
        {(ids) => (
          <Select {...ids} value={compute} onChange={(event) => setCompute(event.target.value)}>
            <option value="">{run.compute}, as then</option>
            {targets.data?.compute.filter((each) => each.name !== run.compute).map((each) => <option key={each.name}>{each.name}</option>)}
          </Select>
        )}
      </Field>
      <Field label="Name">{(ids) => <Input {...ids} value={name} placeholder={run.display_name || "made by itself"} onChange={(event) => setName(event.target.value)} maxLength={255} />}</Field>
      <Button type="submit" variant="primary" icon="again" isBusy={again.isPending} data-testid="reproduce-go">
        Run it again
      </Button>
    </form>
  );
}
