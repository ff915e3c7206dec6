/** When the canvas is moved by hand, what is told to everybody and what is only shown. No React.
 *
 * A change of the view in xyflow's store asks every node, line and port whether it concerns them: with hundreds of them that takes longer
 * than a frame. So while a large canvas is moved the picture alone is moved, and the store is told a few times a second and at the end.
 */
export type View = readonly [x: number, y: number, zoom: number];

/** Up to here everybody is told at once. */
const SMALL = 60;
export const TELL_MS = 200;

export interface Moved {
  numNodes: number;
  /** What moves it; null: the page itself. */
  event: { type: string; buttons?: number } | null;
  /** Something is drawn, or framed, in places that follow from the store. */
  isBusy: boolean;
}

/** Whether only the picture is moved. A wheel that is turned while a button is held goes with something else that is going on. */
export function isCarried({ numNodes, event, isBusy }: Moved): boolean {
  if (numNodes <= SMALL || event === null || isBusy) return false;
  return event.type !== "wheel" || !event.buttons;
}

/** As xyflow writes it. */
export function transformOf([x, y, zoom]: View): string {
  return `translate(${x}px,${y}px) scale(${zoom})`;
}

const GAP = 24;
const LEAST_GAP = 12;
const DOTS_FROM = 0.3; // farther away they would be as large as the nodes
/** They reach so far beyond the canvas that none is missing while they are moved: at least as far as they can be apart. */
export const DOTS_EDGE = 48;

/** The dots behind: how far apart, how large (0: none), and how far they are moved. From farther away there are fewer, else it would be a grey. */
export function dotsOf([x, y, zoom]: View): { gap: number; radius: number; left: number; top: number } {
  let gap = GAP * zoom;
  while (gap < LEAST_GAP) gap *= 2;
  const at = (value: number) => rest(value + DOTS_EDGE - gap / 2, gap); // each is in the middle of its square
  return { gap, radius: zoom < DOTS_FROM ? 0 : Math.max(0.5, 0.6 * zoom), left: at(x), top: at(y) };
}

/** From 0 up to `of`, also for negative ones. */
function rest(value: number, of: number): number {
  return ((value % of) + of) % of;
}
