/** What a run was started with, as texts. No React. */
import type { Overview, Run } from "../tabs";

/** The command as one would type it; empty for a run that nothing was started for. */
export function commandLine(spec: Run["spec"]): string {
  if (spec.command) return spec.command;
  if (!spec.script) return "";
  return ["python", spec.script, ...(spec.arguments ?? [])].map(quote).join(" ");
}

/** As a shell would need it. */
export function quote(word: string): string {
  if (word === "") return "''";
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function environmentWords(environment: Overview["environment"]): [string, string][] {
  const facts: [string, string][] = [["Name", environment.name || "unnamed"]];
  if (environment.version) facts.push(["Version", environment.version]);
  if (environment.python) facts.push(["Python", environment.python]);
  if (environment.key) facts.push(["Built as", environment.key.slice(0, 16)]);
  if (environment.user_managed) facts.push(["Managed by", "its user: it is taken as it is"]);
  return facts;
}

const GIT: [string, string][] = [
  ["repository_uri", "Repository"],
  ["branch", "Branch"],
  ["commit", "Commit"],
  ["dirty", "Changed since"],
];

export function gitFacts(git: Overview["git"]): [string, string][] {
  const facts: [string, string][] = [];
  for (const [key, label] of GIT) {
    const value = git[key] ?? (key === "repository_uri" ? git.repository : undefined);
    if (value === undefined || value === null || value === "") continue;
    facts.push([label, key === "dirty" ? (String(value).toLowerCase() === "true" ? "yes: not all of it was committed" : "no") : String(value)]);
  }
  return facts.length > 0 ? facts : [["Git", "not in a repository"]];
}
