/** Axes: values to places from 0 to 1, with a few words along them. No React. */
import { formatNumber } from "@/components/format";
import { toNumber, type Quantity } from "./compared";

export interface Scale {
  /** 0 is the low end, 1 the high one; null where there is nothing to place. */
  at: (value: unknown) => number | null;
  ticks: { at: number; word: string }[];
  isLog: boolean;
  /** What stands at a place: its value, or the nearest word. */
  word: (at: number) => string;
}

const LOG_FROM = 100; // times the smallest: learning rates are laid out by their magnitude

/** `isLog` left out: by the values themselves. */
export function toScale(values: readonly unknown[], isNumeric: boolean, isLog?: boolean): Scale {
  return isNumeric ? numberScale(values, isLog) : wordScale(values);
}

function numberScale(values: readonly unknown[], wanted?: boolean): Scale {
  const numbers = values.map(toNumber).filter((value) => value !== null);
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  const isLog = low > 0 && (wanted ?? high / low >= LOG_FROM);
  const put = (value: number) => (isLog ? Math.log10(value) : value);
  const span = put(high) - put(low);
  const at = (value: unknown) => {
    const number = toNumber(value);
    if (number === null || (isLog && number <= 0)) return null;
    return span > 0 ? (put(number) - put(low)) / span : 0.5;
  };
  const steps = span > 0 ? [0, 0.25, 0.5, 0.75, 1] : [0.5];
  const word = (step: number) => {
    const value = put(low) + span * step;
    return formatNumber(Number((isLog ? 10 ** value : value).toPrecision(3)), 3);
  };
  return { at, isLog, word, ticks: steps.map((step) => ({ at: step, word: step === 0 ? formatNumber(low, 4) : step === 1 ? formatNumber(high, 4) : word(step) })) };
}

const MOST_WORDS = 12;

function wordScale(values: readonly unknown[]): Scale {
  const words = [...new Set(values.filter((value) => value !== null && value !== "").map(String))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const place = (index: number) => (words.length > 1 ? index / (words.length - 1) : 0.5);
  const step = Math.ceil(words.length / MOST_WORDS);
  return {
    isLog: false,
    word: (at) => words[Math.round(at * (words.length - 1))] ?? "",
    at: (value) => (value === null || value === "" || value === undefined ? null : place(words.indexOf(String(value)))),
    ticks: words.map((word, index) => ({ at: place(index), word })).filter((_, index) => index % step === 0),
  };
}

/** Axes to begin with: what was set differently, then what came of it. */
export function firstAxes(all: readonly Quantity[]): string[] {
  const params = all.filter((each) => each.section === "params" && each.differs).slice(0, 5);
  const metrics = all.filter((each) => each.section === "metrics" && each.isNumeric && each.differs).slice(0, 3);
  const chosen = [...params, ...metrics];
  return (chosen.length >= 2 ? chosen : [...chosen, ...all.filter((each) => !chosen.includes(each) && each.differs)].slice(0, 4)).map((each) => each.id);
}

/** Two to begin with: a parameter against a metric, where there are such. */
export function firstPair(all: readonly Quantity[]): [string | null, string | null] {
  const numeric = all.filter((each) => each.isNumeric);
  const x = numeric.find((each) => each.section === "params" && each.differs) ?? numeric.find((each) => each.differs) ?? numeric[0];
  const y = numeric.find((each) => each.section === "metrics" && each.differs && each !== x) ?? numeric.find((each) => each !== x);
  return [x?.id ?? null, y?.id ?? null];
}
