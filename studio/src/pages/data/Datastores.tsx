import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Datastore } from "@/api/types";
import { Card } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Menu } from "@/components/Menu";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { toast, toastError } from "@/components/toasts";
import styles from "./Data.module.css";
import { storeKind, storePlace } from "./datasets";

interface Props {
  asked: { data?: { datastores: Datastore[] }; isPending: boolean; error: unknown; refetch: () => unknown };
}

/** Places for files. Credentials are not among what is shown: nobody is ever told them. */
export function Datastores({ asked }: Props) {
  return (
    <Card isFlush testId="data-stores">
      {asked.isPending && <Skeleton lines={3} />}
      {!asked.data && Boolean(asked.error) && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      <ul className={styles.stores}>
        {asked.data?.datastores.map((store) => (
          <Store key={store.name} store={store} />
        ))}
      </ul>
      {asked.data && (
        <p className={styles.note}>
          More places: <code>rookery datastore add NAME --kind s3 --option bucket=…</code>
        </p>
      )}
    </Card>
  );
}

function Store({ store }: { store: Datastore }) {
  const client = useQueryClient();
  const mayChange = useMay("owner");
  const [isAsked, setAsked] = useState(false);
  const again = () => void client.invalidateQueries({ queryKey: keys.data() });
  const choose = useMutation({ mutationFn: () => call("set_default_datastore", { path: { name: store.name } }), onError: toastError, onSuccess: again });
  const forget = useMutation({
    mutationFn: () => call("delete_datastore", { path: { name: store.name } }),
    onError: toastError,
    onSuccess: () => {
      again();
      toast(`${store.name} is forgotten; its files stay`);
    },
    onSettled: () => setAsked(false),
  });
  const isOwn = store.created_utc === null;
  return (
    <li data-row={store.name}>
      <div className={styles.store}>
        <strong>{store.name}</strong>
        {store.is_default && <Pill word="Default" tone="good" icon="check" />}
        {store.has_credentials && <Pill word="Credentials kept sealed" tone="idle" icon="key" />}
        <p className={styles.about}>
          {storeKind(store)} · <span className={styles.where}>{storePlace(store)}</span>
          {isOwn && " · the workspace's own"}
        </p>
      </div>
      {mayChange && (
        <Menu
          label={`More to do with ${store.name}`}
          isIconOnly
          items={[
            { label: "Make it the default", icon: "check", isDisabled: store.is_default, run: () => choose.mutate() },
            { label: "Forget it", icon: "trash", isDangerous: true, isDisabled: isOwn, run: () => setAsked(true) },
          ]}
        />
      )}
      {isAsked && (
        <Confirm title={`Forget ${store.name}?`} verb="Forget the datastore" isDangerous isBusy={forget.isPending} onConfirm={() => forget.mutate()} onClose={() => setAsked(false)}>
          <p>Its files stay where they are. Data sets on it cannot be read any more, until one of the same name is registered again.</p>
        </Confirm>
      )}
    </li>
  );
}
