/** Moves an element as one picture, frame by frame, without its page being laid out in layers anew.
 *
 * When a transform changes, Chromium looks through everything that is painted for what overlaps what: of 300 nodes with their ports that is
 * tens of milliseconds a frame. It does not for an element that is being animated, whose place is open anyway. So this is an animation that
 * stands still at whatever place it is given.
 */
export class Slide {
  #animation: Animation | null = null;

  /** There, until `end`; it wins over the element's own style. */
  to(element: HTMLElement, transform: string): void {
    const frames = { transform: [transform, transform] };
    const now = this.#animation?.effect;
    if (now instanceof KeyframeEffect && now.target === element) return now.setKeyframes(frames);
    this.end();
    this.#animation = element.animate(frames, { duration: 1e9, fill: "both" });
    this.#animation.pause();
  }

  /** It is where its style says. */
  end(): void {
    this.#animation?.cancel();
    this.#animation = null;
  }
}
