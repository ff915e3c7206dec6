import { useEffect, useState } from "react";
import { call } from "@/api/client";
import type { Endpoint } from "@/api/types";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Select } from "@/components/Field";
import { LineView } from "@/components/LineView";
import { useSearch } from "@/router/location";
import styles from "./Endpoints.module.css";

const STEP_MS = 1500;
const MOST = 1 << 19; // bytes kept here; the whole log is a command away

/** What its processes write, as they write it. */
export function LogCard({ endpoint }: { endpoint: Endpoint }) {
  const [search, change] = useSearch();
  const names = endpoint.versions.map((version) => version.name);
  const version = names.find((name) => name === search.get("log")) ?? names[0] ?? "default";
  const { text, error, retry } = useLog(endpoint.name, version);
  const [isFollowing, setFollowing] = useState(true);
  const lines = text.replace(/\n$/, "").split("\n");
  const picker =
    names.length > 1 ? (
      <Select aria-label="Version whose log is shown" className={styles.window} value={version} onChange={(event) => change({ log: event.target.value === names[0] ? null : event.target.value })}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </Select>
    ) : undefined;
  return (
    <Card title="Log" testId="endpoint-log" actions={picker}>
      {error !== null && <ErrorNotice error={error} onRetry={retry} />}
      {text ? <LineView label="Log of the endpoint" count={lines.length} line={(index) => lines[index]} maxHeight="20rem" isFollowing={isFollowing} onFollow={setFollowing} testId="endpoint-log-lines" /> : <p className={styles.about}>It has written nothing yet.</p>}
    </Card>
  );
}

/** Asked for from where it was left, while the page is in sight: a log is no event of the workspace. */
function useLog(name: string, version: string): { text: string; error: unknown; retry: () => void } {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    let at = 0;
    let kept = "";
    const decoder = new TextDecoder();
    const look = async () => {
      try {
        if (!document.hidden) {
          const answer = (await call("read_endpoint_log", { path: { name }, query: { version, offset: at, length: MOST }, signal: ending.signal })) as unknown as Response;
          const size = Number(answer.headers.get("x-log-size") ?? 0);
          const bytes = new Uint8Array(await answer.arrayBuffer());
          if (size < at) [at, kept] = [0, ""]; // it has begun anew
          else if (bytes.length > 0) {
            at += bytes.length;
            kept = (kept + decoder.decode(bytes, { stream: true })).slice(-MOST);
          }
          setText(kept);
          setError(null);
        }
      } catch (problem) {
        if (ending.signal.aborted) return;
        setError(problem);
      }
      if (!ending.signal.aborted) timer = setTimeout(() => void look(), STEP_MS);
    };
    setText("");
    void look();
    return () => {
      ending.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [name, version, round]);
  return { text, error, retry: () => setRound((before) => before + 1) };
}
