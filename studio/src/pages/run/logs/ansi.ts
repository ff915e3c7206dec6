/** A line as a terminal would show it: colours of ANSI as names, progress bars by their last state. No React. */

export interface Style {
  color?: Color;
  isBold?: boolean;
  isDim?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
}

export type Color = "grey" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

export interface Piece extends Style {
  text: string;
  isFound?: boolean;
}

// Colours; then every other sequence that moves a cursor, sets a title or makes a link: those are left out.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b\[([0-9;:]*)m|\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;
const COLORS: (Color | undefined)[] = ["grey", "red", "green", "yellow", "blue", "magenta", "cyan", undefined];

/** What stays of a line that was written over again and again: progress bars go back with a carriage return. */
export function lastWritten(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r");
  for (let at = states.length - 1; at > 0; at -= 1) {
    const state = states[at] as string;
    if (state.replace(SEQUENCE, "").trim() !== "") return state;
  }
  return states[0] ?? "";
}

/** The text without its sequences. */
export function plainText(line: string): string {
  return lastWritten(line).replace(SEQUENCE, "").replace(INVISIBLE, "");
}

export function toPieces(line: string, wanted = "", isCase = false): Piece[] {
  const text = lastWritten(line);
  const pieces: Piece[] = [];
  let style: Style = {};
  let from = 0;
  for (const found of text.matchAll(SEQUENCE)) {
    push(pieces, text.slice(from, found.index), style);
    if (found[1] !== undefined) style = restyle(style, found[1]);
    from = found.index + found[0].length;
  }
  push(pieces, text.slice(from), style);
  return wanted ? markFound(pieces, wanted, isCase) : pieces;
}

function push(pieces: Piece[], text: string, style: Style): void {
  const shown = text.replace(INVISIBLE, "");
  if (shown) pieces.push({ text: shown, ...style });
}

/** Found text may go over several pieces: each is cut where it begins and ends. */
function markFound(pieces: readonly Piece[], wanted: string, isCase: boolean): Piece[] {
  const whole = pieces.map((piece) => piece.text).join("");
  const [text, find] = isCase ? [whole, wanted] : [whole.toLowerCase(), wanted.toLowerCase()];
  const marked: Piece[] = [];
  let start = 0; // of the piece, in the whole
  let match = text.length === whole.length ? text.indexOf(find) : -1;
  for (const piece of pieces) {
    const end = start + piece.text.length;
    let at = start;
    while (match >= 0 && match < end) {
      const until = Math.min(match + find.length, end);
      if (match > at) marked.push({ ...piece, text: whole.slice(at, match) });
      marked.push({ ...piece, text: whole.slice(Math.max(at, match), until), isFound: true });
      at = until;
      if (match + find.length > end) break; // it goes on in the next piece
      match = text.indexOf(find, match + find.length);
    }
    if (at < end) marked.push({ ...piece, text: whole.slice(at, end) });
    start = end;
  }
  return marked;
}

function restyle(before: Style, codes: string): Style {
  let style = { ...before };
  const given = codes.split(/[;:]/).map((code) => Number(code || 0));
  for (let at = 0; at < given.length; at += 1) {
    const code = given[at] as number;
    if (code === 0) style = {};
    else if (code === 1) style.isBold = true;
    else if (code === 2) style.isDim = true;
    else if (code === 3) style.isItalic = true;
    else if (code === 4) style.isUnderlined = true;
    else if (code === 22) style = { ...style, isBold: undefined, isDim: undefined };
    else if (code === 23) style.isItalic = undefined;
    else if (code === 24) style.isUnderlined = undefined;
    else if (code >= 30 && code <= 37) style.color = COLORS[code - 30];
    else if (code >= 90 && code <= 97) style.color = COLORS[code - 90];
    else if (code === 39) style.color = undefined;
    else if (code === 38 || code === 48) {
      const isWide = given[at + 1] === 2;
      const color = isWide ? nearest(given[at + 2] ?? 0, given[at + 3] ?? 0, given[at + 4] ?? 0) : ofTable(given[at + 2] ?? 0);
      if (code === 38) style.color = color;
      at += isWide ? 4 : 2;
    }
  }
  return style;
}

/** One of the 256 colours of a terminal. */
function ofTable(index: number): Color | undefined {
  if (index < 16) return COLORS[index % 8];
  if (index >= 232) return index < 248 ? "grey" : undefined;
  const level = (step: number) => (step ? 55 + step * 40 : 0);
  const at = index - 16;
  return nearest(level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6));
}

/** The hue that has a name here: colours of the theme, which can be read on it, not those of somebody's terminal. */
function nearest(red: number, green: number, blue: number): Color | undefined {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most > 160 ? undefined : "grey";
  const half = (most + least) / 2;
  const bits = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return COLORS[bits];
}
