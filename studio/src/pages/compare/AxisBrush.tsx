import { useState, type KeyboardEvent, type PointerEvent } from "react";
import { movedRange, toRange, type Range } from "./brush";
import styles from "./Compare.module.css";

const STEP = 0.05; // of an axis, by keyboard
const REACH = 8; // beyond the ends of an axis, so that the ends can be hit

interface Props {
  label: string;
  /** Where the axis stands, in pixels. */
  x: number;
  top: number;
  length: number;
  range: Range | null;
  words: (range: Range) => string;
  onBrush: (range: Range | null) => void;
}

/** Drag along an axis for a range, click to take it away. By keyboard: arrows move the upper end, with Shift the lower one, Escape clears. */
export function AxisBrush({ label, x, top, length, range, words, onBrush }: Props) {
  const [from, setFrom] = useState<number | null>(null);
  const [drawn, setDrawn] = useState<Range | null>(null);
  const placeOf = (event: PointerEvent<SVGRectElement>) => 1 - (event.clientY - event.currentTarget.getBoundingClientRect().top - REACH) / length;
  const begin = (event: PointerEvent<SVGRectElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setFrom(placeOf(event));
  };
  const end = (event: PointerEvent<SVGRectElement>) => {
    if (from === null) return;
    onBrush(toRange(from, placeOf(event)));
    setFrom(null);
    setDrawn(null);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
    if (step !== undefined) onBrush(movedRange(range, step, event.shiftKey));
    else if (event.key === "Escape" && range) onBrush(null);
    else return;
    event.preventDefault();
  };
  const shown = drawn ?? range;
  return (
    <g transform={`translate(${x} 0)`}>
      {shown && <rect className={styles.brush} x={-8} width={16} y={top + (1 - shown[1]) * length} height={(shown[1] - shown[0]) * length} />}
      <rect
        className={styles.brushReach}
        x={-12}
        width={24}
        y={top - REACH}
        height={length + 2 * REACH}
        tabIndex={0}
        role="button"
        aria-label={`Choose a range of ${label}${range ? `, now ${words(range)}` : ""}`}
        onPointerDown={begin}
        onPointerMove={(event) => from !== null && setDrawn(toRange(from, placeOf(event)))}
        onPointerUp={end}
        onPointerCancel={() => {
          setFrom(null);
          setDrawn(null);
        }}
        onKeyDown={press}
      />
    </g>
  );
}
