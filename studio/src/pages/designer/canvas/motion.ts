/** How long the canvas takes to move: not at all for those who asked for less motion. */
export function motionMs(): number {
  return typeof matchMedia !== "undefined" && matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}

/** Around all of it, as a share of the canvas. */
export const FIT_PADDING = 0.1;

/** All of it, not larger than it is. */
export function fitted() {
  return { padding: FIT_PADDING, maxZoom: 1, duration: motionMs() };
}
