import { describe, expect, it } from "vitest";
import { panBy, roomOf, type Box } from "./sight";

const box = (left: number, top: number, right: number, bottom: number): Box => ({ left, top, right, bottom });
const CANVAS = box(200, 100, 1000, 700);

describe("roomOf", () => {
  it("is all of the canvas where nothing lies over it", () => {
    expect(roomOf(CANVAS, null)).toEqual(CANVAS);
    expect(roomOf(CANVAS, box(1000, 100, 1400, 700))).toEqual(CANVAS); // a pane beside it
  });
  it("takes what the browser measures, whose sides are not its own", () => {
    class Measured {
      get left() { return 200; }
      get top() { return 100; }
      get right() { return 1000; }
      get bottom() { return 700; }
    }
    expect(roomOf(new Measured(), box(640, 100, 1000, 700))).toEqual(box(200, 100, 640, 700));
  });
  it("ends at a pane that lies over it, at the right or at the foot", () => {
    expect(roomOf(CANVAS, box(640, 100, 1000, 700))).toEqual(box(200, 100, 640, 700));
    expect(roomOf(CANVAS, box(200, 300, 1000, 700))).toEqual(box(200, 100, 1000, 300));
  });
});

describe("panBy", () => {
  it("moves nothing that can be seen", () => expect(panBy(box(300, 200, 556, 284), CANVAS)).toEqual({ x: 0, y: 0 }));
  it("moves what is half hidden by as little as it takes", () => {
    expect(panBy(box(900, 200, 1156, 284), CANVAS)).toEqual({ x: -180, y: 0 });
    expect(panBy(box(100, 650, 356, 734), CANVAS)).toEqual({ x: 124, y: -58 });
  });
  it("brings what is far away into the middle", () => expect(panBy(box(3000, 200, 3200, 300), CANVAS)).toEqual({ x: -2500, y: 150 }));
  it("shows the beginning of what is larger than the room", () => expect(panBy(box(250, 90, 1250, 690), CANVAS)).toEqual({ x: -26, y: 34 }));
});
