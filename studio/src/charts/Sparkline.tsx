import styles from "./Sparkline.module.css";

interface Props {
  xs: readonly number[];
  ys: readonly (number | null)[];
  label: string;
  width?: number;
  height?: number;
}

/** A curve the size of a word, for cells of a table. */
export function Sparkline({ xs, ys, label, width = 72, height = 20 }: Props) {
  const path = sparkPath(xs, ys, width, height);
  if (!path) return null;
  return (
    <svg className={styles.spark} width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}

export function sparkPath(xs: readonly number[], ys: readonly (number | null)[], width: number, height: number): string {
  const points = ys.map((y, index) => [xs[index] ?? index, y] as const).filter((point): point is readonly [number, number] => point[1] !== null && Number.isFinite(point[1]));
  if (points.length === 0) return "";
  const [lowX, highX] = [points[0]?.[0] ?? 0, points[points.length - 1]?.[0] ?? 0];
  const values = points.map((point) => point[1]);
  const [lowY, highY] = [Math.min(...values), Math.max(...values)];
  const at = ([x, y]: readonly [number, number]) => {
    const left = highX === lowX ? width / 2 : 1 + ((x - lowX) / (highX - lowX)) * (width - 2);
    const top = highY === lowY ? height / 2 : height - 2 - ((y - lowY) / (highY - lowY)) * (height - 4);
    return `${left.toFixed(1)} ${top.toFixed(1)}`;
  };
  const first = points[0] as readonly [number, number];
  return points.length === 1 ? `M${at(first)}h0.01` : `M${points.map(at).join("L")}`;
}
