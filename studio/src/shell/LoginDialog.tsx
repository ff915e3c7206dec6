import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { setLoggedOut } from "@/api/session";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast } from "@/components/toasts";
import styles from "./LoggedOut.module.css";

/** Logs in again without leaving the page. A refusal is said with its reason; after too many tries, how long to wait. */
export function LoginDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const logIn = useMutation({
    mutationFn: () => call("open_session", { body: { name: name.trim(), password } }),
    onError: () => setPassword(""),
    onSuccess: (session) => {
      setLoggedOut(false);
      void client.invalidateQueries();
      toast(`Logged in as ${session.name}`);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && password) logIn.mutate();
  };
  return (
    <Dialog
      title="Log in again"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Later</Button>
          <Button variant="primary" type="submit" form="login-again" isBusy={logIn.isPending} disabled={!name.trim() || !password} data-testid="login-submit">
            Log in
          </Button>
        </>
      }
    >
      <form id="login-again" className={styles.form} onSubmit={submit} data-testid="login-dialog">
        <Field label="Name">{(ids) => <Input {...ids} autoFocus autoComplete="username" value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label="Password">{(ids) => <Input {...ids} type="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.target.value)} />}</Field>
        {logIn.error && (
          <p className={styles.refused} role="alert" data-testid="login-refused">
            {toApiError(logIn.error).message}
          </p>
        )}
        <p className="soft">
          On your own machine there is no password: type <code>rookery studio</code>, and this page goes on too.
        </p>
      </form>
    </Dialog>
  );
}
