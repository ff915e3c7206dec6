import { useMutation } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useRef, useState, type DragEvent } from "react";
import { score, type Scored } from "@/api/score";
import type { Endpoint } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { classes } from "@/components/classes";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatNumber } from "@/components/format";
import { Icon } from "@/components/Icon";
import { CodeView } from "@/components/LineView";
import { Pill } from "@/components/StatusPill";
import styles from "./Endpoints.module.css";
import { isPicture, readPrediction, readTimings, type Prediction } from "./endpoints";

const MOST_BYTES = 50_000_000;
const EXAMPLE = '{"data": [[1, 2, 3]]}';

interface Given {
  body: Blob | string;
  type: string;
  name: string;
  url: string | null; // of a picture
}

/** Drop a picture or JSON, see the answer. */
export function TryCard({ endpoint }: { endpoint: Endpoint }) {
  const [given, setGiven] = useState<Given | null>(null);
  const [text, setText] = useState("");
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const ask = useMutation({ mutationFn: (one: Given) => score(endpoint.name, one.body, one.type) });
  const { mutate } = ask;
  useEffect(() => () => void (given?.url && URL.revokeObjectURL(given.url)), [given]);

  const take = useCallback(
    (file: File | null | undefined) => {
      if (!file) return;
      setProblem(null);
      if (file.size > MOST_BYTES) return setProblem(`${file.name} has ${formatNumber(file.size / 1e6, 3)} MB. Here 50 MB at most; a program may send more.`);
      const picture = isPicture(file);
      const one: Given = { body: file, type: file.type || (picture ? "image/jpeg" : "application/json"), name: file.name, url: picture ? URL.createObjectURL(file) : null };
      setGiven(one);
      mutate(one);
    },
    [mutate],
  );
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const send = () => {
    const one: Given = { body: text, type: "application/json", name: "text", url: null };
    setGiven(one);
    mutate(one);
  };
  return (
    <Card title="Try it" testId="endpoint-try">
      <div className={styles.try}>
        <div className={classes(styles.drop, isOver && styles.over)} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop} data-testid="endpoint-drop">
          {given?.url ? <img src={given.url} alt={`The picture that was sent: ${given.name}`} className={styles.picture} /> : <Icon name="image" size={28} />}
          <p>{given && given.name !== "text" ? given.name : "Drop a picture or a JSON file here"}</p>
          <Button icon="upload" onClick={() => input.current?.click()} data-testid="endpoint-choose">
            Choose a file
          </Button>
          <input ref={input} type="file" className="unseen" tabIndex={-1} aria-label="File to send" accept="image/*,.json,.npy,.txt,.csv" onChange={(event) => { take(event.target.files?.[0]); event.target.value = ""; }} data-testid="endpoint-file" />
          {problem && <p className={styles.problem}>{problem}</p>}
        </div>
        <div className={styles.answer} aria-live="polite" data-testid="endpoint-answer">
          <AnswerView asked={ask.data} isPending={ask.isPending} error={ask.error} />
        </div>
      </div>
      <form className={styles.type} onSubmit={(event) => { event.preventDefault(); send(); }}>
        <label htmlFor={id}>Or type a body</label>
        <textarea id={id} rows={3} spellCheck={false} placeholder={EXAMPLE} value={text} onChange={(event) => setText(event.target.value)} className={styles.body} data-testid="endpoint-body" />
        <Button type="submit" icon="play" isBusy={ask.isPending} disabled={!text.trim()} data-testid="endpoint-send">
          Send
        </Button>
      </form>
    </Card>
  );
}

function AnswerView({ asked, isPending, error }: { asked: Scored | undefined; isPending: boolean; error: unknown }) {
  if (isPending) return <p className={styles.about}>Asking …</p>;
  if (error) return <ErrorNotice error={error} />;
  if (!asked) return <p className={styles.about}>The answer comes here.</p>;
  const isGood = asked.status < 300;
  const prediction = isGood ? readPrediction(asked.json) : null;
  return (
    <>
      <div className={styles.first}>
        <Pill word={isGood ? `Answered, ${asked.status}` : `Refused, ${asked.status}`} tone={isGood ? "good" : "bad"} icon={isGood ? "completed" : "failed"} />
        <span className={styles.about}>
          {formatNumber(asked.tookMs, 3)} ms from here{asked.version && asked.version !== "default" ? ` · version ${asked.version}` : ""}
        </span>
      </div>
      {prediction && <PredictionView prediction={prediction} />}
      {!prediction && <CodeView text={asked.json === undefined ? asked.text || "(empty)" : JSON.stringify(asked.json, null, 2)} label="Answer" maxHeight="16rem" />}
      <Stages header={asked.timing} />
    </>
  );
}

function PredictionView({ prediction }: { prediction: Prediction }) {
  return (
    <div className={styles.prediction} data-testid="endpoint-prediction">
      <p>
        <strong className={styles.label}>{prediction.label}</strong> <span>{formatNumber(prediction.probability * 100, 4)} %</span>
      </p>
      <ul className={styles.bars}>
        {prediction.all.slice(0, 5).map(([label, probability]) => (
          <li key={label}>
            <span className={styles.class}>{label}</span>
            <meter className={styles.meter} min={0} max={1} value={probability} aria-label={`${label}: ${formatNumber(probability * 100, 4)} %`} />
            <span className={styles.share}>{formatNumber(probability * 100, 3)} %</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Stages({ header }: { header: string | null }) {
  const stages = readTimings(header);
  if (stages.length === 0) return null;
  return <p className={styles.about}>{stages.map(([stage, ms]) => `${stage} ${formatNumber(ms, 3)} ms`).join(" · ")}</p>;
}
