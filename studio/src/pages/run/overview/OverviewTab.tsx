import { Card, Facts } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { formatBytes, formatLimit, formatTime, plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import type { TabProps } from "../tabs";
import { Attempts } from "./Attempts";
import { Children } from "./Children";
import { commandLine, environmentWords, gitFacts } from "./facts";
import { LastValues } from "./LastValues";
import styles from "./Overview.module.css";
import { PhaseBar } from "./PhaseBar";

const PLAIN = ["none", "per_process"]; // processes as they are: nothing to say

/** What the run is: how it was started, with what, where the time went, its tries and its parts. */
export default function OverviewTab({ run, overview }: TabProps) {
  const { spec } = run;
  const command = commandLine(spec);
  const variables = Object.entries(spec.variables ?? {});
  return (
    <div className={styles.columns} data-testid="run-overview">
      <div className={styles.column}>
        <Card title="Where the time went">
          <PhaseBar overview={overview} />
        </Card>
        {run.warnings.length > 0 && (
          <Card title="Warnings" testId="run-warnings">
            <ul className={styles.warnings}>
              {run.warnings.slice(0, 50).map((warning, index) => (
                <li key={index}>
                  <Icon name="warning" />
                  <span>
                    <Words text={warning} />
                  </span>
                </li>
              ))}
            </ul>
          </Card>
        )}
        <Card title="Command" actions={command ? <CopyButton text={command} label="Copy the command" /> : undefined} testId="run-command">
          {command ? (
            <pre className={styles.command}>
              <code>{command}</code>
            </pre>
          ) : (
            <p className={styles.none}>None: the run was made by a program that logs to it.</p>
          )}
          <Arguments overview={overview} />
        </Card>
        <LastValues overview={overview} />
        {overview.children.total > 0 && <Children run={run} overview={overview} />}
        {run.attempts.length > 1 && <Attempts run={run} />}
      </div>
      <div className={styles.column}>
        <Card title="About" testId="run-about">
          <Facts
            facts={[
              ["Experiment", <Link to={`/experiments/${encodeURIComponent(run.experiment)}`}>{run.experiment}</Link>],
              ["Kind", run.kind],
              ["Submitted", formatTime(run.created_utc)],
              ...(run.started_utc ? [["Started", formatTime(run.started_utc)] as const] : []),
              ...(run.ended_utc ? [["Ended", formatTime(run.ended_utc)] as const] : []),
              ["By", run.submitted_by],
              ["Compute", run.compute],
              ["Nodes × ranks", `${spec.node_count ?? 1} × ${spec.processes_per_node ?? 1}${spec.launcher && !PLAIN.includes(spec.launcher) ? `, ${spec.launcher}` : ""}`],
              ...(spec.max_duration_s ? [["Longest time", formatLimit(spec.max_duration_s)] as const] : []),
            ]}
          />
        </Card>
        <Card title="Environment" testId="run-environment">
          <Facts facts={environmentWords(overview.environment)} />
          {variables.length > 0 && (
            <details className={styles.more}>
              <summary>{plural(variables.length, "variable")}</summary>
              <Facts facts={variables.map(([name, value]) => [name, <code key={name}>{value}</code>])} />
            </details>
          )}
        </Card>
        <Card title="Code" testId="run-code">
          <Facts
            facts={[
              [
                "Snapshot",
                overview.snapshot ? (
                  <>
                    <Link to={`/runs/${encodeURIComponent(run.id)}?tab=snapshot`}>
                      {plural(overview.snapshot.files, "file")}, {formatBytes(overview.snapshot.bytes)}
                    </Link>
                  </>
                ) : (
                  "none"
                ),
              ],
              ...gitFacts(overview.git),
            ]}
          />
        </Card>
        {overview.data.length > 0 && (
          <Card title="Data" testId="run-data">
            <Facts facts={overview.data.map((each) => [`${each.direction} ${each.context ?? ""}`.trim(), `${each.name ?? ""} ${each.digest ? `(${each.digest.slice(0, 12)})` : ""}`])} />
          </Card>
        )}
        {overview.models.length > 0 && (
          <Card title="Models" testId="run-models">
            <ul className={styles.list}>
              {overview.models.map((model) => (
                <li key={`${model.name}:${model.version}`}>
                  <Link to={`/models/${encodeURIComponent(model.name)}?version=${model.version}`}>{model.name}</Link> version {model.version}
                </li>
              ))}
            </ul>
          </Card>
        )}
        <Properties properties={run.properties} />
      </div>
    </div>
  );
}

function Arguments({ overview }: { overview: TabProps["overview"] }) {
  const params = Object.entries(overview.run.params);
  if (params.length === 0) return null;
  return (
    <div className={styles.params} data-testid="run-params">
      <h3>Arguments and parameters</h3>
      <Facts facts={params.map(([name, value]) => [name, <code key={name}>{value ?? ""}</code>])} />
    </div>
  );
}

function Properties({ properties }: { properties: Record<string, string | null> }) {
  const shown = Object.entries(properties).filter(([name]) => !name.startsWith("azureml.git."));
  if (shown.length === 0) return null;
  return (
    <Card title="Properties" testId="run-properties">
      <Facts facts={shown.map(([name, value]) => [name, value || "–"])} />
    </Card>
  );
}
