import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, urlOf } from "@/api/client";
import { keys } from "@/api/query";
import { EventStream } from "@/api/stream";
import { IconButton } from "@/components/Button";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { LineView } from "@/components/LineView";
import { Pill } from "@/components/StatusPill";
import { Link } from "@/router/Link";
import styles from "./Environments.module.css";

/** A build and its log, as it is written. */
export function BuildCard({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const build = useQuery({ queryKey: keys.environments("build", id), queryFn: ({ signal }) => call("get_build", { path: { build_id: id }, signal }) });
  const [text, setText] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    setText("");
    const stream: EventStream = new EventStream({
      url: (after) => urlOf("follow_build", { build_id: id }, { after: after ?? 0 }),
      kinds: ["log", "status"],
      onEvent: (event) => {
        if (event.kind === "log") {
          const { text: piece, base64 } = event.data as { text?: string; base64?: string };
          setText((before) => before + (piece ?? atob(base64 ?? "")));
        } else {
          stream.stop(); // it is over: nothing more comes
          void client.invalidateQueries({ queryKey: keys.environments() });
        }
      },
      onState: () => undefined,
    });
    stream.start();
    return () => stream.stop();
  }, [id, client]);
  const lines = text.replace(/\n$/, "").split("\n");
  const { data } = build;
  const isOver = data?.ended_utc !== null && data?.ended_utc !== undefined;
  return (
    <Card
      title="Build"
      testId="environment-build-log"
      actions={
        <span>
          {data && <Pill word={data.status} tone={!isOver ? "busy" : data.error ? "bad" : "good"} icon={!isOver ? "running" : data.error ? "failed" : "completed"} />}
          <IconButton icon="close" label="Close the build's log" onClick={onClose} />
        </span>
      }
    >
      {!data && build.error && <ErrorNotice error={build.error} onRetry={() => void build.refetch()} />}
      {data?.error && <ErrorNotice title="It could not be built" error={new Error(data.error)} />}
      {text ? <LineView label="Log of the build" count={lines.length} line={(index) => lines[index]} maxHeight="22rem" isFollowing={isFollowing} onFollow={setFollowing} testId="environment-log-lines" /> : <p className={styles.about}>{isOver ? "It wrote no log." : "Waiting for its first line."}</p>}
      {data?.built && (
        <p className={styles.about}>
          Built: <Link to={`/environments/built/${encodeURIComponent(data.built.key)}`}>{data.built.key.slice(0, 16)}</Link>
        </p>
      )}
    </Card>
  );
}
