import type { RefObject } from "react";
import styles from "./Canvas.module.css";
import { dotsOf, type View } from "./carry";
import type { Slide } from "./slide";

/** What the canvas is ruled with. */
export function Dots({ ref }: { ref: RefObject<HTMLDivElement | null> }) {
  return <div ref={ref} className={styles.dots} aria-hidden="true" />;
}

/** Puts them where a view has them: moved, and drawn anew only when it is nearer or farther. */
export function placeDots(element: HTMLElement | null, view: View, slide: Slide | null): void {
  if (!element) return;
  const { gap, radius, left, top } = dotsOf(view);
  const transform = `translate(${left}px,${top}px)`;
  if (slide) slide.to(element, transform);
  else element.style.transform = transform;
  if (element.dataset.zoom === String(view[2])) return;
  element.dataset.zoom = String(view[2]);
  element.style.backgroundSize = `${gap}px ${gap}px`;
  element.style.backgroundImage = radius === 0 ? "none" : `radial-gradient(circle, var(--strong) ${radius}px, transparent ${radius + 0.5}px)`;
}
