/** How long the canvas takes to move: not at all for those who asked for less motion. */
export function motionMs(): number {
  return typeof matchMedia !== "undefined" && matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}

/** All of it, not larger than it is. */
export function fitted() {
  return { padding: 0.15, maxZoom: 1, duration: motionMs() };
}
