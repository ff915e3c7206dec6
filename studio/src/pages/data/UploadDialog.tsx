import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { send } from "@/api/upload";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { formatBytes, plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { toast } from "@/components/toasts";
import { navigate } from "@/router/location";
import styles from "./Data.module.css";
import { datasetAddress } from "./datasets";
import { nameProblem, packOf, readPicked, type Chosen } from "./dropped";

interface Props {
  chosen: Chosen | null;
  isReading: boolean;
  /** The name is given: a version is added. */
  fixedName?: string;
  onChoose: (chosen: Chosen) => void;
  onClose: () => void;
  /** Instead of going to the data set's page. */
  onDone?: (made: { name: string; version: number }) => void;
}

/** A folder, a zip or files become the next version of a data set: all of it, or nothing. */
export function UploadDialog({ chosen, isReading, fixedName, onChoose, onClose, onDone }: Props) {
  if (isReading) {
    return (
      <Dialog title="Upload data" onClose={onClose}>
        <p>The folder is being looked through.</p>
        <Skeleton lines={2} />
      </Dialog>
    );
  }
  return chosen && chosen.files > 0 ? <Sending chosen={chosen} fixedName={fixedName} onClose={onClose} onDone={onDone} /> : <Choosing isEmpty={chosen !== null} onChoose={onChoose} onClose={onClose} />;
}

function Choosing({ isEmpty, onChoose, onClose }: { isEmpty: boolean; onChoose: (chosen: Chosen) => void; onClose: () => void }) {
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const take = (list: FileList | null) => list && list.length > 0 && onChoose(readPicked(list));
  return (
    <Dialog title="Upload data" onClose={onClose}>
      <div className={styles.place}>
        <Icon name="data" size={28} />
        <p>{isEmpty ? "There is no file in it. Drop something else here," : "Drop a folder, a zip or files here,"} or</p>
        <div className={styles.actions}>
          <Button icon="folder" onClick={() => folder.current?.click()}>
            Choose a folder
          </Button>
          <Button icon="file" onClick={() => files.current?.click()}>
            Choose a zip or files
          </Button>
        </div>
        <input ref={folder} type="file" hidden aria-label="A folder" data-testid="data-pick-folder" onChange={(event) => take(event.target.files)} {...{ webkitdirectory: "" }} />
        <input ref={files} type="file" multiple hidden aria-label="A zip or files" data-testid="data-pick-files" onChange={(event) => take(event.target.files)} />
        <p className={styles.about}>A zip is unpacked by the keeper. Larger things: <code>rookery data add NAME FOLDER</code>.</p>
      </div>
    </Dialog>
  );
}

function Sending({ chosen, fixedName, onClose, onDone }: { chosen: Chosen; fixedName?: string } & Pick<Props, "onClose" | "onDone">) {
  const client = useQueryClient();
  const known = useQuery({ queryKey: keys.data("names"), queryFn: ({ signal }) => call("list_datasets", { signal }) });
  const stores = useQuery({ queryKey: keys.data("stores"), queryFn: ({ signal }) => call("list_datastores", { signal }) });
  const [name, setName] = useState(fixedName ?? chosen.name);
  const [description, setDescription] = useState("");
  const [store, setStore] = useState("");
  const [sent, setSent] = useState<number | null>(null); // bytes; null: not begun
  const [error, setError] = useState<unknown>(null);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => () => stopping.current?.abort(), []);
  const wanted = name.trim();
  const problem = nameProblem(wanted);
  const before = known.data?.datasets.find((each) => each.name === wanted);
  const body = () => chosen.zip ?? packOf(chosen.items);
  const begin = async () => {
    const stop = new AbortController();
    stopping.current = stop;
    setError(null);
    setSent(0);
    try {
      const query = { format: chosen.zip ? "zip" : "pack", datastore: store, description } as const;
      const made = await send("upload_dataset", { path: { name: wanted }, query, body: body() }, { onProgress: setSent, signal: stop.signal });
      void client.invalidateQueries({ queryKey: keys.data() });
      toast(`${made.name}, version ${made.version}: ${plural(made.files, "file")}`);
      onClose();
      if (onDone) onDone(made);
      else navigate(datasetAddress(made.name, made.version));
    } catch (caught) {
      setSent(null);
      if (!stop.signal.aborted) setError(caught);
    }
  };
  const cancel = () => {
    if (sent !== null) toast("The upload is canceled; nothing of it was kept", "info");
    stopping.current?.abort();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem && sent === null) void begin();
  };
  return (
    <Dialog
      title={fixedName ? `A new version of ${fixedName}` : "Upload data"}
      onClose={cancel}
      actions={
        <>
          <Button onClick={cancel} data-testid="data-upload-cancel">
            {sent === null ? "Close" : "Cancel the upload"}
          </Button>
          <Button variant="primary" type="submit" form="upload-data" isBusy={sent !== null} disabled={problem !== null} data-testid="data-upload">
            Upload
          </Button>
        </>
      }
    >
      <form id="upload-data" className={styles.form} onSubmit={submit}>
        <p className={styles.about} data-testid="data-chosen">
          {chosen.zip ? `${chosen.zip.name}, ${formatBytes(chosen.bytes)}, unpacked by the keeper` : `${plural(chosen.files, "file")}, ${formatBytes(chosen.bytes)}`}
          {chosen.left > 0 && `; ${plural(chosen.left, "file")} of the operating system left out`}
        </p>
        {!fixedName && (
          <Field label="Name" problem={name && problem ? problem : undefined} hint={before ? `It is there: this becomes version ${before.latest_version + 1}.` : "A new data set."}>
            {(ids) => <Input {...ids} value={name} disabled={sent !== null} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}
          </Field>
        )}
        <Field label="Description">{(ids) => <Input {...ids} value={description} disabled={sent !== null} onChange={(event) => setDescription(event.target.value)} />}</Field>
        {(stores.data?.datastores.length ?? 0) > 2 && (
          <Field label="Datastore">
            {(ids) => (
              <Select {...ids} value={store} disabled={sent !== null} onChange={(event) => setStore(event.target.value)}>
                <option value="">the default</option>
                {stores.data?.datastores.filter((each) => each.kind !== "http").map((each) => (
                  <option key={each.name} value={each.name}>
                    {each.name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {sent !== null && <Progress sent={sent} total={chosen.bytes} isZip={chosen.zip !== null} />}
        {error !== null && <ErrorNotice error={error} title="Nothing was kept" />}
      </form>
    </Dialog>
  );
}

function Progress({ sent, total, isZip }: { sent: number; total: number; isZip: boolean }) {
  const isSent = sent >= total;
  return (
    <div className={styles.progress} role="status" data-testid="data-progress">
      <progress aria-label="How much is sent" max={1} value={isSent ? undefined : sent / Math.max(1, total)} />
      <span className="numbers">{isSent ? (isZip ? "Sent. It is being unpacked and registered." : "Sent. It is being registered.") : `${formatBytes(sent)} of ${formatBytes(total)}`}</span>
    </div>
  );
}
