import type { RefObject } from "react";
import styles from "./Canvas.module.css";
import { dotsOf, type View } from "./carry";

/** What the canvas is ruled with. It is moved, not drawn anew, while the canvas is: `placeDots`. */
export function Dots({ ref }: { ref: RefObject<HTMLDivElement | null> }) {
  return <div ref={ref} className={styles.dots} aria-hidden="true" />;
}

/** Puts them where a view has them. */
export function placeDots(element: HTMLElement | null, view: View): void {
  if (!element) return;
  const { gap, radius, left, top } = dotsOf(view);
  element.style.transform = `translate(${left}px,${top}px)`;
  if (element.dataset.zoom === String(view[2])) return;
  element.dataset.zoom = String(view[2]);
  element.style.backgroundSize = `${gap}px ${gap}px`;
  element.style.backgroundImage = `radial-gradient(circle, var(--strong) ${radius}px, transparent ${radius + 0.5}px)`;
}
