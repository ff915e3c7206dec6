/** What an environment asks for, and what was built, as lists. No React. */
import type { EnvironmentSpec } from "@/api/types";

type Definition = Record<string, unknown>;

export interface Contents {
  /** Its own interpreter is taken as it is; nothing is built. */
  userManaged: string | null;
  channels: string[];
  conda: string[];
  pip: string[];
  image: string | null;
  variables: [string, string][];
}

export function contentsOf(definition: Definition | null | undefined): Contents {
  const python = record(definition?.python);
  const conda = record(python.condaDependencies);
  const listed = list(conda.dependencies);
  const pip = listed.flatMap((each) => (typeof each === "object" && each !== null ? list((each as Definition).pip).map(String) : []));
  const variables = Object.entries(record(definition?.environmentVariables)).map(([name, value]) => [name, String(value)] as [string, string]);
  const image = record(definition?.docker).baseImage;
  return {
    userManaged: python.userManagedDependencies === true ? String(python.interpreterPath ?? "python") : null,
    channels: list(conda.channels).map(String),
    conda: listed.filter((each): each is string => typeof each === "string"),
    pip,
    image: typeof image === "string" && image !== "" ? image : null,
    variables,
  };
}

/** In one line, for a list: "python=3.10, torch==2.1 and 3 more". */
export function inBrief(contents: Contents, most = 4): string {
  if (contents.userManaged !== null) return `what ${contents.userManaged} has`;
  const all = [...contents.conda, ...contents.pip];
  if (all.length === 0) return contents.image ?? "nothing";
  const rest = all.length - most;
  return all.slice(0, most).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** The question that builds it now. */
export function toSpec(name: string, version: string, definition: Definition): EnvironmentSpec {
  const conda = record(record(definition.python).condaDependencies);
  return { name, version, conda };
}

export interface Pin {
  name: string;
  version: string;
}

/** The packages of a lock: `name==version` lines; hashes, comments and options are not packages. */
export function pinsOf(lock: string): Pin[] {
  const pins: Pin[] = [];
  for (const line of lock.split("\n")) {
    const found = /^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;\\]+)|@\s*(\S+))/.exec(line);
    if (found) pins.push({ name: found[1] ?? "", version: found[2] ?? found[3] ?? "" });
  }
  return pins.sort((a, b) => a.name.localeCompare(b.name));
}

function record(value: unknown): Definition {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Definition) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
