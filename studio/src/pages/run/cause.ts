/** Why a run failed, in words: where it was, how its process ended. No React. */

export interface Ending {
  attempt?: number;
  node?: number | null;
  rank?: number | null;
  exit_code?: number | null;
  signal?: string | number | null;
}

const SIGNALS: Record<string, string> = {
  SIGKILL: "killed at once (SIGKILL), usually because the memory was used up",
  SIGTERM: "asked to stop (SIGTERM)",
  SIGINT: "interrupted (SIGINT)",
  SIGSEGV: "touched memory that is not its own (SIGSEGV)",
  SIGABRT: "gave up by itself (SIGABRT), as native libraries do after a failed check",
  SIGBUS: "could not reach its memory (SIGBUS), often because /dev/shm was full",
  SIGFPE: "divided by zero in native code (SIGFPE)",
  SIGILL: "met an instruction that this processor does not have (SIGILL)",
  SIGXCPU: "used up its processor time (SIGXCPU)",
};
const NUMBERS: Record<number, string> = { 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 24: "SIGXCPU" };
const EXITS: Record<number, string> = {
  2: "wrong arguments, by custom",
  85: "saved, wants to go on",
  126: "the program may not be executed",
  127: "the program was not found",
};

/** "rank 1 of node 0, attempt 2"; empty where nothing is known. */
export function whereWords(ending: Ending): string {
  const parts: string[] = [];
  if (ending.rank !== null && ending.rank !== undefined) parts.push(`rank ${ending.rank}`);
  if (ending.node !== null && ending.node !== undefined) parts.push(`node ${ending.node}`);
  if ((ending.attempt ?? 1) > 1) parts.push(`attempt ${ending.attempt}`);
  return parts.join(", ");
}

/** "exit code 1", "SIGKILL: killed at once…"; empty where nothing is known. */
export function endWords(ending: Ending): string {
  if (ending.signal !== null && ending.signal !== undefined && ending.signal !== "") return signalWords(ending.signal);
  const code = ending.exit_code;
  if (code === null || code === undefined) return "";
  if (code > 128 && NUMBERS[code - 128]) return `exit code ${code}: ${signalWords(code - 128)}`;
  return EXITS[code] ? `exit code ${code}: ${EXITS[code]}` : `exit code ${code}`;
}

function signalWords(signal: string | number): string {
  const name = typeof signal === "number" ? (NUMBERS[signal] ?? `signal ${signal}`) : signal;
  return SIGNALS[name] ?? `ended by ${name}`;
}

/** What kind of thing went wrong, as a heading. */
export function kindWords(kind: string): string {
  const words: Record<string, string> = {
    UserError: "The script failed",
    SystemError: "Rookery could not do its part",
    NodeLost: "A node was lost",
    Preempted: "The node was taken away",
    TimeLimit: "It ran for longer than it may",
    EnvironmentError: "Its environment could not be prepared",
    Infeasible: "The compute target can never run it",
    DataError: "Its data could not be had",
    Stalled: "It stood still",
  };
  return words[kind] ?? "It failed";
}

const PATH_LETTERS = 40;
const NAME_LETTERS = 24;

/** A cause to be taken in at a glance: of an exception's class its own name, of a long path both ends. All of it stands in the details. */
export function shortCause(summary: string): string {
  // In backticks stands what somebody may want to copy.
  return summary
    .split("`")
    .map((part, index) => (index % 2 ? part : part.replace(/(^|\s)(?:[A-Za-z_]\w*\.)+([A-Z]\w*)(?=:\s|$)/g, "$1$2").replace(/\S+/g, shortPath)))
    .join("`");
}

function shortPath(word: string): string {
  const parts = word.split("/");
  if (word.length <= PATH_LETTERS || parts.length < 3 || word.includes("://")) return word;
  const last = parts.at(-1) as string;
  const name = last.length > NAME_LETTERS ? `${last.slice(0, 10)}…${last.slice(-10)}` : last;
  const first = word.startsWith("/") ? `/${parts[1]}` : parts[0];
  return `${first}/…/${name}`;
}
