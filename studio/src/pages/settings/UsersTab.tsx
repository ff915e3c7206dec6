import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import type { User } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Card } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Ago } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { ROLE_WORDS, ROLES, type Role } from "./people";
import styles from "./Settings.module.css";

/** Who may log in, and as what. For owners. */
export function UsersTab() {
  const client = useQueryClient();
  const asked = useQuery({ queryKey: keys.settings("users"), queryFn: ({ signal }) => call("list_users", { signal }) });
  const [removed, setRemoved] = useState<User | null>(null);
  const again = () => void client.invalidateQueries({ queryKey: keys.settings() });
  const setRole = useMutation({ mutationFn: ({ name, role }: { name: string; role: string }) => call("change_user", { path: { name }, body: { role } }), onError: toastError, onSuccess: again });
  const remove = useMutation({
    mutationFn: (name: string) => call("remove_user", { path: { name } }),
    onError: toastError,
    onSuccess: () => {
      again();
      toast("The user is removed");
    },
    onSettled: () => setRemoved(null),
  });
  return (
    <div className={styles.narrow}>
      <NewUser />
      <Card title="Users" isFlush testId="settings-users">
        {asked.isPending && <Skeleton lines={3} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data?.users.length === 0 && <p className={styles.empty}>There are none: only who works on the keeper's machine gets in. Add one, then start a server for the team with <code>rookery server</code>.</p>}
        {asked.data && asked.data.users.length > 0 && (
          <ul className={styles.rows}>
            {asked.data.users.map((user) => (
              <li key={user.name} data-row={user.name}>
                <div className={styles.who}>
                  <strong>{user.name}</strong>
                  <span className={styles.about}>
                    added <Ago time={user.created_utc} /> by {user.created_by} · {plural(user.tokens, "token")}
                    {!user.has_password && " · no password"}
                  </span>
                </div>
                <Select aria-label={`Role of ${user.name}`} value={user.role} disabled={setRole.isPending} onChange={(event) => setRole.mutate({ name: user.name, role: event.target.value })} style={{ width: "9rem" }}>
                  {ROLES.map((role) => (
                    <option key={role}>{role}</option>
                  ))}
                </Select>
                <IconButton icon="trash" label={`Remove ${user.name}`} onClick={() => setRemoved(user)} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      {removed && (
        <Confirm title={`Remove ${removed.name}?`} verb="Remove the user" isDangerous isBusy={remove.isPending} onConfirm={() => remove.mutate(removed.name)} onClose={() => setRemoved(null)}>
          <p>All tokens and sessions of {removed.name} end at once. Runs that {removed.name} has submitted go on and stay in the record.</p>
        </Confirm>
      )}
    </div>
  );
}

function NewUser() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("contributor");
  const add = useMutation({
    mutationFn: () => call("add_user", { body: { name: name.trim(), role, password: password || null } }),
    onSuccess: (made) => {
      setName("");
      setPassword("");
      void client.invalidateQueries({ queryKey: keys.settings() });
      toast(`${made.name} is added`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) add.mutate();
  };
  return (
    <Card title="Add a user" testId="settings-new-user">
      <form className={styles.line} onSubmit={submit}>
        <Field label="Name">{(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}</Field>
        <Field label="Password">{(ids) => <Input {...ids} type="password" autoComplete="new-password" value={password} onChange={(event) => setPassword(event.target.value)} />}</Field>
        <Field label="Role">
          {(ids) => (
            <Select {...ids} value={role} onChange={(event) => setRole(event.target.value as Role)}>
              {ROLES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </Select>
          )}
        </Field>
        <Button variant="primary" type="submit" isBusy={add.isPending} disabled={!name.trim()} data-testid="settings-add-user">
          Add
        </Button>
      </form>
      <p className={styles.about}>{role === "owner" ? "An" : "A"} {role} {ROLE_WORDS[role]}. Without a password only tokens let them in.</p>
      {add.error && <ErrorNotice error={toApiError(add.error)} />}
    </Card>
  );
}
