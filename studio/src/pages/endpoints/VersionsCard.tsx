import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Endpoint, EndpointVersion } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { Field, Input } from "@/components/Field";
import { formatNumber, plural } from "@/components/format";
import { toast, toastError } from "@/components/toasts";
import { Link } from "@/router/Link";
import { EndpointState } from "./EndpointList";
import styles from "./Endpoints.module.css";
import { readyReplicas, sharesAfter } from "./endpoints";

/** Its versions: what each is made of, whether it answers, and its share of the requests. */
export function VersionsCard({ endpoint, mayChange }: { endpoint: Endpoint; mayChange: boolean }) {
  return (
    <Card title={endpoint.versions.length > 1 ? "Versions" : "Version"} isFlush testId="endpoint-versions">
      <ul className={styles.versions}>
        {endpoint.versions.map((version) => (
          <li key={version.name} data-row={version.name}>
            <div className={styles.first}>
              <strong>
                {version.name} <span className={styles.about}>revision {version.revision}</span>
              </strong>
              <EndpointState state={version.state} />
            </div>
            <meter className={styles.meter} min={0} max={100} value={version.traffic} aria-label={`${version.name} gets ${formatNumber(version.traffic)} % of the requests`} />
            <p className={styles.about}>
              {formatNumber(version.traffic)} % of the requests · {plural(readyReplicas(version), "process", "processes")}
              {version.is_default && endpoint.versions.length > 1 && " · gets what the others leave"}
            </p>
            <p className={styles.about}>
              {version.models.map((model) => (
                <Link key={model.name} to={`/models/${encodeURIComponent(model.name)}?version=${model.version}`}>
                  {model.name}:{model.version}
                </Link>
              ))}{" "}
              {howItScores(version)}
            </p>
            {mayChange && !version.is_default && <Share endpoint={endpoint} version={version} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function howItScores(version: EndpointVersion): string {
  if (version.inference) return `by ${version.inference.entry_script}`;
  return version.no_code ? `without code (${version.no_code})` : "";
}

function Share({ endpoint, version }: { endpoint: Endpoint; version: EndpointVersion }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState(String(version.traffic));
  const isGood = sharesAfter(endpoint.versions, version.name, Number(typed)) !== null;
  const save = useMutation({
    mutationFn: () => call("put_endpoint_version", { path: { name: endpoint.name, version: version.name }, body: { traffic: Number(typed) } }),
    onError: toastError,
    onSuccess: (now) => {
      client.setQueryData(keys.endpoints("one", endpoint.name), now);
      toast("The requests are shared so from now on");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isGood) save.mutate();
  };
  return (
    <form className={styles.shareForm} onSubmit={submit}>
      <Field label={`Percent of the requests for ${version.name}`} isLabelHidden>
        {(ids) => <Input {...ids} type="number" min={0} max={100} step="any" value={typed} onChange={(event) => setTyped(event.target.value)} data-testid="endpoint-share" />}
      </Field>
      <Button type="submit" isBusy={save.isPending} disabled={!isGood || Number(typed) === version.traffic}>
        Set its share
      </Button>
    </form>
  );
}
