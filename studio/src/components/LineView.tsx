import { useEffect, useImperativeHandle, useLayoutEffect, useRef, type KeyboardEvent, type ReactNode, type Ref } from "react";
import { classes } from "./classes";
import styles from "./LineView.module.css";
import { scrollFor, useRowsInSight, wrappedSight, wrappedTop } from "./virtual";

export interface LineViewHandle {
  scrollTo: (line: number) => void;
}

interface Props {
  label: string;
  /** How many lines there are; a million is fine. */
  count: number;
  /** Its text, or undefined while it is not loaded: then `onNeed` has been told. */
  line: (index: number) => string | undefined;
  onNeed?: (first: number, end: number) => void;
  tone?: (index: number) => "error" | "warning" | "added" | "removed" | "head" | undefined;
  /** Instead of the plain text, e.g. with found words marked. */
  render?: (index: number, text: string) => ReactNode;
  /** Stays at the end while lines come, until the reader scrolls up. */
  isFollowing?: boolean;
  onFollow?: (isFollowing: boolean) => void;
  hasNumbers?: boolean;
  /** The number of the first line, where it is not 1. */
  numbersFrom?: number;
  maxHeight?: string;
  /** Long lines are broken instead of going out of sight. Scrolling then goes by whole lines. */
  isWrapped?: boolean;
  /** The line that is pointed at, e.g. by the address. */
  selected?: number | null;
  /** Given: numbers can be clicked. */
  onSelect?: (index: number) => void;
  handle?: Ref<LineViewHandle>;
  testId?: string;
}

const ROW = 18;

/** Lines of text, of a log or a file: only those in sight are drawn. Scrolls sideways; text can be selected and copied. */
export function LineView(props: Props) {
  const { label, count, line, onNeed, tone, render, isFollowing, onFollow, hasNumbers = true, numbersFrom = 1, maxHeight, isWrapped, selected, onSelect, handle, testId } = props;
  const box = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const sight = useRowsInSight(box, count, ROW);
  const wrapped = isWrapped && sight.height > sight.viewHeight ? wrappedSight(sight, count, ROW) : null; // few lines flow as they are
  const { first, end } = wrapped ?? (isWrapped ? { first: 0, end: count } : sight);
  const drawn = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // How tall broken lines are is known once they are drawn: then the last ones are moved up as far as the reader has scrolled.
    const element = drawn.current;
    if (element && wrapped) element.style.transform = `translateY(${-wrapped.past * Math.max(0, element.scrollHeight - sight.viewHeight)}px)`;
  });

  useEffect(() => onNeed?.(first, end), [onNeed, first, end, count]);
  const whole = wrapped ? sight.height + sight.viewHeight : isWrapped ? undefined : sight.height;
  useEffect(() => {
    const element = box.current;
    if (element && isFollowing) element.scrollTop = element.scrollHeight;
  }, [isFollowing, count, whole]);
  useImperativeHandle(handle, () => ({
    scrollTo: (index: number) => {
      const element = box.current;
      const top = element && (wrapped ? wrappedTop(index, sight, count, ROW) : scrollFor(index, count, ROW, element.scrollTop, element.clientHeight));
      if (element && top !== null) element.scrollTop = top;
    },
  }));

  const scrolled = () => {
    const element = box.current;
    if (!element || !onFollow) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < ROW * 2;
    if (element.scrollTop < lastTop.current - 1 && isFollowing && !isAtEnd) onFollow(false);
    else if (isAtEnd && !isFollowing && element.scrollTop > lastTop.current) onFollow(true);
    lastTop.current = element.scrollTop;
  };
  const press = (event: KeyboardEvent) => {
    const element = box.current;
    if (!element || (event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    // Said at once: lines that come before the scrolling is told would draw the reader back to the end.
    onFollow?.(event.key === "End");
    element.scrollTop = event.key === "Home" ? 0 : element.scrollHeight;
  };
  const digits = String(numbersFrom + count - 1).length;

  return (
    <div ref={box} className={styles.box} style={{ maxHeight }} role="region" aria-label={label} tabIndex={0} onScroll={scrolled} onKeyDown={press} data-testid={testId}>
      <div className={classes(styles.all, isWrapped && styles.wrapped)} style={{ height: whole }}>
        <div className={classes(wrapped && styles.sticky)} style={wrapped ? { height: sight.viewHeight } : undefined}>
          <div ref={drawn} key={wrapped ? "wrapped" : "plain"} className={styles.sight} style={isWrapped ? undefined : { transform: `translateY(${sight.offset}px)` }}>
            {Array.from({ length: Math.max(0, end - first) }, (_, index) => {
              const at = first + index;
              const text = line(at);
              const kind = tone?.(at);
              return (
                <div key={at} className={classes(styles.line, kind && styles[kind], at === selected && styles.selected)} data-line={at} data-tone={kind}>
                  {hasNumbers && (
                    <span className={classes(styles.number, onSelect && styles.link)} style={{ width: `${digits + 1}ch` }} aria-hidden="true" onClick={onSelect && (() => onSelect(at))}>
                      {numbersFrom + at}
                    </span>
                  )}
                  <span className={styles.text}>{text === undefined ? <span className={styles.missing} /> : render ? render(at, text) : text || "\u200b"}</span>
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/** A short text as it is: a traceback, a command, a file that is here in full. */
export function CodeView({ text, label, maxHeight = "24rem", hasNumbers = false, tone }: { text: string; label: string; maxHeight?: string; hasNumbers?: boolean; tone?: Props["tone"] }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return <LineView label={label} count={lines.length} line={(index) => lines[index]} maxHeight={maxHeight} hasNumbers={hasNumbers} tone={tone} />;
}

/** The text with every place where `wanted` occurs marked; capitals do not count. */
export function Marked({ text, wanted }: { text: string; wanted: string }) {
  if (!wanted) return <>{text}</>;
  const parts: ReactNode[] = [];
  const low = text.toLowerCase();
  const find = wanted.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(find); at >= 0; at = low.indexOf(find, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + find.length)}</mark>);
    from = at + find.length;
  }
  return <>{[...parts, text.slice(from)]}</>;
}
