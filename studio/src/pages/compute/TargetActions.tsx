import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import type { Compute } from "@/api/types";
import { Button } from "@/components/Button";
import { Confirm, Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Menu } from "@/components/Menu";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { toast, toastError } from "@/components/toasts";
import { Words } from "@/components/Words";
import { navigate } from "@/router/location";
import styles from "./Compute.module.css";
import { SizeFields } from "./CreateDialog";
import { isEmbedded, sizeProblem } from "./targets";

/** What an owner may do with a target: resize, try it, delete. */
export function TargetActions({ target }: { target: Compute }) {
  const client = useQueryClient();
  const [open, setOpen] = useState<"resize" | "check" | "delete" | null>(null);
  const remove = useMutation({
    mutationFn: () => call("delete_compute", { path: { name: target.name } }),
    onError: toastError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.compute("list") });
      toast(`${target.name} is gone`);
      navigate("/compute");
    },
    onSettled: () => setOpen(null),
  });
  if (target.kind === "local") return null;
  return (
    <div className={styles.actions}>
      {isEmbedded(target) && (
        <Button icon="settings" onClick={() => setOpen("resize")} data-testid="compute-resize">
          Resize
        </Button>
      )}
      <Menu
        label="More to do with this target"
        isIconOnly
        items={[
          { label: "Check it from end to end", icon: "check", run: () => setOpen("check") },
          { label: isEmbedded(target) ? "Delete" : "Detach", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
        ]}
      />
      {open === "resize" && <ResizeDialog target={target} onClose={() => setOpen(null)} />}
      {open === "check" && <CheckDialog name={target.name} onClose={() => setOpen(null)} />}
      {open === "delete" && (
        <Confirm title={`Delete ${target.name}?`} verb={isEmbedded(target) ? "Delete the target" : "Detach it"} isDangerous isBusy={remove.isPending} onConfirm={() => remove.mutate()} onClose={() => setOpen(null)}>
          <p>Its name is forgotten; its machines are left alone. Runs that were there stay in the record.</p>
        </Confirm>
      )}
    </div>
  );
}

function ResizeDialog({ target, onClose }: { target: Compute; onClose: () => void }) {
  const client = useQueryClient();
  const [size, setSize] = useState({
    min: String(target.spec.min_nodes ?? 0),
    max: String(target.spec.max_nodes ?? target.max_nodes),
    idle: String(target.spec.idle_seconds_before_scaledown ?? 1800),
  });
  const problem = sizeProblem(size);
  const save = useMutation({
    mutationFn: () => call("change_compute", { path: { name: target.name }, body: { min_nodes: Number(size.min), max_nodes: Number(size.max), idle_seconds_before_scaledown: Number(size.idle) } }),
    onSuccess: (now) => {
      client.setQueryData(keys.compute(target.name), now);
      void client.invalidateQueries({ queryKey: keys.compute() });
      toast("Resized");
      onClose();
    },
  });
  return (
    <Dialog
      title={`Resize ${target.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button variant="primary" isBusy={save.isPending} disabled={problem !== null} onClick={() => save.mutate()} data-testid="compute-resize-save">
            Resize
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        <p className={styles.about}>Runs that are under way keep their nodes.</p>
        <SizeFields size={size} onChange={setSize} problem={problem ?? (save.error ? toApiError(save.error).message : null)} />
      </div>
    </Dialog>
  );
}

function CheckDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const check = useMutation({ mutationFn: () => call("check_compute", { path: { name } }) });
  const { mutate } = check;
  useEffect(() => mutate(), [mutate]);
  return (
    <Dialog title={`Check ${name}`} onClose={onClose} isWide>
      {check.error ? <ErrorNotice error={check.error} onRetry={() => mutate()} /> : null}
      {!check.data && !check.error && <Skeleton lines={4} />}
      {check.data && (
        <ul className={styles.checks}>
          {check.data.checks.map((each) => (
            <li key={each.check}>
              <div className={styles.node}>
                <strong>{each.check}</strong>
                <Pill word={each.ok ? "good" : "broken"} tone={each.ok ? "good" : "bad"} icon={each.ok ? "completed" : "failed"} />
              </div>
              <span className={styles.about}>
                <Words text={each.words} />
              </span>
              {!each.ok && each.advice && (
                <span>
                  <Words text={each.advice} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
