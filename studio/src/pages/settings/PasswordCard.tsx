import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { Field, Input } from "@/components/Field";
import { toast } from "@/components/toasts";
import { passwordProblem } from "./people";
import styles from "./Settings.module.css";

export function PasswordCard() {
  const [old, setOld] = useState("");
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const problem = passwordProblem(first, second);
  const save = useMutation({
    mutationFn: () => call("change_my_password", { body: { old, new: first } }),
    onSuccess: () => {
      setOld("");
      setFirst("");
      setSecond("");
      toast("The password is changed; log in with it, here and elsewhere");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (old && first && first === second) save.mutate();
  };
  return (
    <Card title="Password" testId="settings-password">
      <form className={styles.form} onSubmit={submit}>
        <Field label="Old password" problem={save.error ? toApiError(save.error).message : undefined}>
          {(ids) => <Input {...ids} type="password" autoComplete="current-password" value={old} onChange={(event) => setOld(event.target.value)} />}
        </Field>
        <Field label="New password" hint="It ends all your sessions, this one too">
          {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={first} onChange={(event) => setFirst(event.target.value)} />}
        </Field>
        <Field label="New password, again" problem={problem ?? undefined}>
          {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={second} onChange={(event) => setSecond(event.target.value)} />}
        </Field>
        <Button type="submit" isBusy={save.isPending} disabled={!old || !first || first !== second}>
          Change the password
        </Button>
      </form>
    </Card>
  );
}
