import { useQueries } from "@tanstack/react-query";
import { Fragment } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { StatusPill } from "@/components/StatusPill";
import { Elapsed } from "@/components/Time";
import { compareAddress } from "@/pages/compare/address";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { getPipelineRun, useCatalog } from "./asks";
import styles from "./Designer.module.css";
import { compareRuns } from "./graph/compare";
import type { Step } from "./graph/steps";

/** Two runs of a pipeline, module by module: what was set otherwise, and how each went. */
export default function ComparePage() {
  const [search] = useSearch();
  const { catalog } = useCatalog();
  const ids = (search.get("runs") ?? "").split(",").filter(Boolean).slice(0, 2);
  const asked = useQueries({
    queries: ids.flatMap((id) => [{ queryKey: keys.run(id, "pipeline"), queryFn: () => getPipelineRun(id) }]),
  });
  const heads = useQueries({
    queries: ids.map((id) => ({ queryKey: keys.run(id, "overview"), queryFn: () => call("get_overview", { path: { run_id: id } }) })),
  });
  const head = <h1 className="unseen">Compare pipeline runs</h1>;
  if (ids.length < 2) {
    return (
      <Card>
        {head}
        <EmptyState icon="compare" title="Choose two runs">
          <p>
            Mark two in <Link to="/designer?tab=runs">the list of runs</Link> and press Compare.
          </p>
        </EmptyState>
      </Card>
    );
  }
  const error = asked.find((each) => each.error)?.error;
  const [left, right] = asked.map((each) => each.data);
  if (error) return <>{head}<ErrorNotice error={error} onRetry={() => asked.forEach((each) => void each.refetch())} /></>;
  if (!left || !right) return <Skeleton lines={8} />;
  const rows = compareRuns(left, right, catalog);
  const changed = rows.filter((row) => row.only !== null || row.differences.length > 0).length;
  return (
    <>
      {head}
      <p className="soft">{changed === 0 ? "Both runs have the same modules, with the same settings." : `${changed} of ${rows.length} modules differ.`}</p>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Modules of both runs">
        <table className={styles.compare} data-testid="designer-compared">
          <thead>
            <tr>
              <th scope="col">Module</th>
              {ids.map((id, index) => (
                <th key={id} scope="col">
                  <Link to={`/designer/runs/${encodeURIComponent(id)}`}>{heads[index]?.data?.run.display_name || id}</Link>
                </th>
              ))}
              <th scope="col">Metrics</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Fragment key={row.node}>
                <tr data-row={row.node}>
                  <th scope="row">{row.title}</th>
                  <td>{row.only === "right" ? "not in it" : <How step={row.left} />}</td>
                  <td>{row.only === "left" ? "not in it" : <How step={row.right} />}</td>
                  <td>{row.left?.run_id && row.right?.run_id && row.left.run_id !== row.right.run_id && <Link to={compareAddress([row.left.run_id, row.right.run_id])}>Compare</Link>}</td>
                </tr>
                {row.differences.map((each) => (
                  <tr key={each.what}>
                    <td className={styles.what}>{each.what}</td>
                    <td>
                      <del>{each.left}</del>
                    </td>
                    <td>
                      <ins>{each.right}</ins>
                    </td>
                    <td />
                  </tr>
                ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function How({ step }: { step: Step | null }) {
  if (!step) return <>–</>;
  return (
    <>
      <StatusPill status={step.status} reason={step.reason} /> <span className="soft numbers">{step.reused_from ? "reused" : step.started && <Elapsed start={step.started} end={step.ended} />}</span>
    </>
  );
}
