import { useState, type FormEvent } from "react";
import type { TableRun } from "@/api/types";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { plural } from "@/components/format";
import { parseTags } from "./outcome";
import styles from "./Filters.module.css";

interface Props {
  count: number;
  known: readonly TableRun[];
  isBusy: boolean;
  onDone: (tags: Record<string, string>, remove: string[]) => void;
  onClose: () => void;
}

/** Tags for all that are selected; others that they have stay. */
export function TagDialog({ count, known, isBusy, onDone, onClose }: Props) {
  const [text, setText] = useState("");
  const [gone, setGone] = useState("");
  const [isTried, setTried] = useState(false);
  const tags = parseTags(text);
  const remove = gone.split(",").map((each) => each.trim()).filter(Boolean);
  const isNothing = tags !== null && Object.keys(tags).length + remove.length === 0;
  const problem = tags === null ? "A tag needs a name before its =." : isNothing ? "Write a tag to set, or one to take away." : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (tags && !problem) onDone(tags, remove);
  };
  const had = [...new Set(known.flatMap((run) => Object.keys(run.tags)))].sort();
  return (
    <Dialog
      title={`Tag ${plural(count, "run")}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Leave as they are</Button>
          <Button variant="primary" isBusy={isBusy} type="submit" form="tag-form" data-testid="tag-save">
            Save
          </Button>
        </>
      }
    >
      <form id="tag-form" className={styles.form} onSubmit={submit}>
        <Field label="Set" hint="team=vision, keep" problem={isTried ? problem : undefined}>
          {(ids) => <Input {...ids} autoFocus value={text} onChange={(event) => setText(event.target.value)} data-testid="tag-set" />}
        </Field>
        <Field label="Take away" hint={had.length ? `They have: ${had.slice(0, 12).join(", ")}` : "Names, with commas between them"}>
          {(ids) => <Input {...ids} value={gone} onChange={(event) => setGone(event.target.value)} data-testid="tag-remove" />}
        </Field>
      </form>
    </Dialog>
  );
}
