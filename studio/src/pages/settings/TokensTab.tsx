import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay, useMe } from "@/api/session";
import type { UserToken, UserTokenMade } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { Confirm, Dialog } from "@/components/Dialog";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { isExpired, parseDays } from "./people";
import styles from "./Settings.module.css";

/** Tokens for programs: made here, shown once, revoked here. */
export function TokensTab() {
  const me = useMe();
  const isOwner = useMay("owner");
  const isUser = me.data?.kind === "user";
  const asked = useQuery({ queryKey: keys.settings("tokens"), queryFn: ({ signal }) => call("list_user_tokens", { signal }), enabled: isUser || isOwner });
  const [made, setMade] = useState<UserTokenMade | null>(null);
  const [revoked, setRevoked] = useState<UserToken | null>(null);
  if (me.isPending) return <Skeleton lines={4} />;
  return (
    <div className={styles.narrow}>
      <NewToken isOwner={isOwner} own={isUser ? (me.data?.name ?? "") : ""} onMade={setMade} />
      <Card title={isOwner ? "Tokens of everybody" : "Your tokens"} isFlush testId="settings-tokens">
        {asked.isPending && <Skeleton lines={3} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data?.tokens.length === 0 && <p className={styles.empty}>There are none. A token lets a program in without a password.</p>}
        {asked.data && asked.data.tokens.length > 0 && (
          <ul className={styles.rows}>
            {asked.data.tokens.map((token) => (
              <li key={token.id} data-row={token.id}>
                <div className={styles.who}>
                  <strong>{token.name || token.id}</strong>
                  <span className={styles.about}>
                    {token.user} · made <Ago time={token.created_utc} /> · ends <Ago time={token.expires_utc} /> · {token.last_used_utc ? <>used <Ago time={token.last_used_utc} /></> : "never used"}
                  </span>
                </div>
                {isExpired(token, Date.now()) && <Pill word="expired" tone="idle" icon="waiting" />}
                <Button variant="quiet" icon="trash" onClick={() => setRevoked(token)} aria-label={`Revoke ${token.name || token.id}`}>
                  Revoke
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {made && <ShownOnce made={made} onClose={() => setMade(null)} />}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(null)} />}
    </div>
  );
}

function NewToken({ isOwner, own, onMade }: { isOwner: boolean; own: string; onMade: (made: UserTokenMade) => void }) {
  const client = useQueryClient();
  const users = useQuery({ queryKey: keys.settings("users"), queryFn: ({ signal }) => call("list_users", { signal }), enabled: isOwner });
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const names = users.data?.users.map((user) => user.name) ?? [];
  const user = chosen ?? (own || names[0] || "");
  const length = parseDays(days);
  const make = useMutation({
    mutationFn: () => call("make_user_token", { body: { name: name.trim(), days: length.days, user: isOwner ? user : null } }),
    onSuccess: (made) => {
      setName("");
      void client.invalidateQueries({ queryKey: keys.settings() });
      onMade(made);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!length.problem && user) make.mutate();
  };
  if (isOwner && users.data && names.length === 0 && !own) {
    return (
      <Card title="New token">
        <EmptyState icon="key" title="Tokens belong to users, and there are none yet">
          <p>On your own machine you need none. For a team's server, add the first user:</p>
          <pre>
            <code>{"rookery user add ann --role owner"}</code>
          </pre>
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card title="New token" testId="settings-new-token">
      <form className={styles.line} onSubmit={submit}>
        <Field label="What for">{(ids) => <Input {...ids} placeholder="laptop, CI …" value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />}</Field>
        {isOwner && (
          <Field label="Of user">
            {(ids) => (
              <Select {...ids} value={user} onChange={(event) => setChosen(event.target.value)}>
                {[...new Set([...(own ? [own] : []), ...names])].map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label="Days" problem={length.problem ?? undefined}>
          {(ids) => <Input {...ids} inputMode="numeric" placeholder="the server's own" value={days} onChange={(event) => setDays(event.target.value)} />}
        </Field>
        <Button variant="primary" type="submit" isBusy={make.isPending} disabled={length.problem !== null || !user} data-testid="settings-make-token">
          Create
        </Button>
      </form>
      {make.error && <ErrorNotice error={toApiError(make.error)} />}
    </Card>
  );
}

/** The only time that it is seen. */
function ShownOnce({ made, onClose }: { made: UserTokenMade; onClose: () => void }) {
  return (
    <Dialog title={`Token '${made.name || made.id}' of ${made.user}`} onClose={onClose} actions={<Button variant="primary" onClick={onClose}>I have it</Button>}>
      <p>Copy it now: it is not shown again.</p>
      <div className={styles.secret}>
        <code data-testid="settings-token">{made.token}</code>
        <CopyButton text={made.token} label="Copy the token" />
      </div>
      <p className={styles.about}>
        Programs take it as <code>ROOKERY_TOKEN</code>, an MLflow client as <code>MLFLOW_TRACKING_TOKEN</code>.
      </p>
    </Dialog>
  );
}

function RevokeDialog({ token, onClose }: { token: UserToken; onClose: () => void }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => call("revoke_user_token", { path: { token_id: token.id } }),
    onError: toastError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.settings() });
      toast("The token is revoked");
    },
    onSettled: onClose,
  });
  return (
    <Confirm title="Revoke this token?" verb="Revoke the token" isDangerous isBusy={revoke.isPending} onConfirm={() => revoke.mutate()} onClose={onClose}>
      <p>
        <strong>{token.name || token.id}</strong> of {token.user} is refused from then on, and streams that it has open are closed.
      </p>
    </Confirm>
  );
}
