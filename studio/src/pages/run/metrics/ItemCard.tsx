import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, urlOf } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import type { Metric } from "./charts";
import { AccuracyCharts } from "./AccuracyCharts";
import { ConfusionMatrix } from "./ConfusionMatrix";
import { Histogram } from "./Histogram";
import styles from "./Items.module.css";
import { JsonView, LoggedTable } from "./LoggedTable";
import { PredictionsChart } from "./PredictionsChart";
import { readAccuracy, readMatrix, readPredictions, readResiduals } from "./shapes";

const ROWS = 100;

/** Something that was logged and is no curve: a table, pictures, a matrix, accuracy. Several under one name are paged through. */
export function ItemCard({ run, metric }: { run: string; metric: Metric }) {
  const isTable = metric.kind === "row" || metric.kind === "table";
  const [page, setPage] = useState<number | null>(null); // null: the last one, which changes while the run lives
  const size = isTable ? ROWS : 1;
  const last = Math.max(0, Math.ceil(metric.total / size) - 1);
  const at = Math.min(page ?? (isTable ? 0 : last), last);
  const asked = useQuery({
    queryKey: keys.run(run, "items", metric.name, at * size, size),
    queryFn: ({ signal }) => call("get_items", { path: { run_id: run }, query: { name: metric.name, start: at * size, limit: size }, signal }),
    placeholderData: (before) => before,
  });
  // A table counts its rows itself; the record counts how often it was logged.
  const pages = isTable ? Math.ceil((asked.data?.total ?? 0) / size) : metric.total;
  return (
    <Card title={<span className={styles.title}>{metric.name}</span>} testId={`metrics-item-${metric.kind}`} actions={pages > 1 ? <Pager label={metric.name} at={at} pages={pages} word={isTable ? "Page" : "Item"} onPage={setPage} /> : undefined}>
      {asked.isPending && <Skeleton lines={4} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && (isTable ? <LoggedTable columns={asked.data.columns ?? {}} first={at * size} total={asked.data.total} label={metric.name} /> : <Item run={run} name={metric.name} kind={metric.kind} item={asked.data.items?.[0]} />)}
    </Card>
  );
}

function Item({ run, name, kind, item }: { run: string; name: string; kind: string; item: unknown }) {
  if (item === undefined) return <p className="soft">Nothing here.</p>;
  if (kind === "image") return <Picture run={run} name={name} item={item} />;
  const matrix = kind === "confusion_matrix" ? readMatrix(item) : null;
  if (matrix) return <ConfusionMatrix matrix={matrix} label={name} />;
  const accuracy = kind === "accuracy_table" ? readAccuracy(item) : null;
  if (accuracy) return <AccuracyCharts table={accuracy} />;
  const residuals = kind === "residuals" ? readResiduals(item) : null;
  if (residuals) return <Histogram {...residuals} label={name} />;
  const predictions = kind === "predictions" ? readPredictions(item) : null;
  if (predictions) return <PredictionsChart {...predictions} label={name} />;
  return <JsonView value={item} label={name} />;
}

function Picture({ run, name, item }: { run: string; name: string; item: unknown }) {
  const [isBroken, setBroken] = useState(false);
  const artifact = typeof item === "object" && item !== null && "artifact" in item ? String(item.artifact) : "";
  if (!artifact || isBroken) return <p className="soft">This picture cannot be shown{artifact ? `: ${artifact}` : ""}.</p>;
  return (
    <figure className={styles.picture}>
      <a href={pictureUrl(run, artifact)} target="_blank" rel="noreferrer" aria-label={`${name}, in full`}>
        <img src={pictureUrl(run, artifact)} alt={name} loading="lazy" decoding="async" onError={() => setBroken(true)} />
      </a>
      <figcaption>{artifact}</figcaption>
    </figure>
  );
}

interface PagerProps {
  label: string;
  at: number;
  pages: number;
  word: string;
  onPage: (page: number) => void;
}

function Pager({ label, at, pages, word, onPage }: PagerProps) {
  return (
    <label className={styles.pager}>
      <span className="numbers">
        {word} {formatCount(at + 1)} of {formatCount(pages)}
      </span>
      <input type="range" min={0} max={pages - 1} value={at} aria-label={`${word} of ${label}`} onChange={(event) => onPage(Number(event.target.value))} />
    </label>
  );
}

function pictureUrl(run: string, artifact: string): string {
  return urlOf("get_picture", { run_id: run, name: artifact });
}
