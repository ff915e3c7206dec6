import styles from "./Designer.module.css";
import { NODE_HEIGHT, NODE_WIDTH } from "./graph/layout";
import { placeOf, type Graph, type Place } from "./graph/model";
import { settle } from "./graph/settle";

/** A pipeline as large as a stamp. */
export function Thumbnail({ graph }: { graph: Graph }) {
  const ids = Object.keys(graph.nodes);
  const settled = settle(graph);
  const places = new Map<string, Place>(ids.map((id) => [id, placeOf(settled, id)]));
  const all = [...places.values()];
  if (all.length === 0) return <svg className={styles.thumb} aria-hidden="true" viewBox="0 0 10 10" />;
  const [left, top] = [Math.min(...all.map((each) => each.x)), Math.min(...all.map((each) => each.y))];
  const [width, height] = [Math.max(...all.map((each) => each.x)) - left + NODE_WIDTH, Math.max(...all.map((each) => each.y)) - top + NODE_HEIGHT];
  const lines = ids.flatMap((id) =>
    Object.values(graph.nodes[id]?.inputs ?? {}).flatMap((source) => {
      const [from, to] = [places.get(source.node), places.get(id)];
      return from && to ? [{ key: `${source.node}-${source.port}-${id}`, from, to }] : [];
    }),
  );
  return (
    <svg className={styles.thumb} aria-hidden="true" viewBox={`${left - 60} ${top - 40} ${width + 120} ${height + 80}`} preserveAspectRatio="xMidYMid meet">
      {lines.map(({ key, from, to }, index) => (
        <path key={`${key}-${index}`} d={`M${from.x + NODE_WIDTH / 2} ${from.y + NODE_HEIGHT} C ${from.x + NODE_WIDTH / 2} ${from.y + NODE_HEIGHT + 60}, ${to.x + NODE_WIDTH / 2} ${to.y - 60}, ${to.x + NODE_WIDTH / 2} ${to.y}`} fill="none" stroke="var(--strong)" strokeWidth={6} />
      ))}
      {[...places].map(([id, place]) => (
        <rect key={id} x={place.x} y={place.y} width={NODE_WIDTH} height={NODE_HEIGHT} rx={14} fill={graph.nodes[id]?.kind === "data" ? "var(--busy-soft)" : "var(--surface)"} stroke="var(--accent)" strokeWidth={5} />
      ))}
    </svg>
  );
}
