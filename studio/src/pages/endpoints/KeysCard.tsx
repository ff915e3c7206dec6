import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Endpoint } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Card } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { Confirm } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { toast, toastError } from "@/components/toasts";
import styles from "./Endpoints.module.css";

type Which = "Primary" | "Secondary";

/** What opens it: hidden until asked for, made anew on demand. */
export function KeysCard({ endpoint }: { endpoint: Endpoint }) {
  const [isShown, setShown] = useState(false);
  if (!endpoint.auth_enabled) {
    return (
      <Card title="Keys" testId="endpoint-keys">
        <p className={styles.about}>No key is needed. With <code>rookery endpoints update {endpoint.name} --auth</code> one is.</p>
      </Card>
    );
  }
  return (
    <Card
      title="Keys"
      testId="endpoint-keys"
      actions={
        <Button icon="key" onClick={() => setShown(!isShown)} aria-expanded={isShown} data-testid="endpoint-keys-show">
          {isShown ? "Hide" : "Show"}
        </Button>
      }
    >
      {isShown ? <Shown name={endpoint.name} /> : <p className={styles.about}>Two keys open it, so that one can be made anew while the other is in use.</p>}
    </Card>
  );
}

function Shown({ name }: { name: string }) {
  const client = useQueryClient();
  const queryKey = keys.endpoints("one", name, "keys");
  // Not kept: keys are in memory only while they are shown.
  const asked = useQuery({ queryKey, queryFn: ({ signal }) => call("get_endpoint_keys", { path: { name }, signal }), gcTime: 0 });
  const [sure, setSure] = useState<Which | null>(null);
  const renew = useMutation({
    mutationFn: (key: Which) => call("make_endpoint_key", { path: { name }, body: { key } }),
    onError: toastError,
    onSuccess: (now) => {
      client.setQueryData(queryKey, now);
      toast("The key is new; the old one is void");
    },
    onSettled: () => setSure(null),
  });
  if (asked.isPending) return <Skeleton lines={2} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const { primary, secondary } = asked.data;
  return (
    <>
      {(
        [
          ["Primary", primary],
          ["Secondary", secondary],
        ] as const
      ).map(([which, value]) => (
        <div key={which} className={styles.key}>
          <span className={styles.about}>{which}</span>
          <code>{value}</code>
          <CopyButton text={value} label={`Copy the ${which.toLowerCase()} key`} />
          <IconButton icon="again" label={`Make the ${which.toLowerCase()} key anew`} onClick={() => setSure(which)} />
        </div>
      ))}
      {sure && (
        <Confirm title={`Make the ${sure.toLowerCase()} key anew?`} verb="Make it anew" isDangerous isBusy={renew.isPending} onConfirm={() => renew.mutate(sure)} onClose={() => setSure(null)}>
          <p>Whoever uses the old one is refused from then on.</p>
        </Confirm>
      )}
    </>
  );
}
