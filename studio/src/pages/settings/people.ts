/** Users and tokens as words, and what is wrong with a form. No React. */
import type { UserToken } from "@/api/types";

export const ROLES = ["reader", "contributor", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const ROLE_WORDS: Record<Role, string> = {
  reader: "may see everything but users, tokens of others and the audit log",
  contributor: "may also submit, change and stop runs, and register models and environments",
  owner: "may do everything, with users, compute targets and the workspace itself too",
};

/** How long a token is good for, as days; null: what the server gives. */
export function parseDays(text: string): { days: number | null; problem: string | null } {
  const typed = text.trim();
  if (typed === "") return { days: null, problem: null };
  const days = Number(typed);
  if (!Number.isFinite(days) || days <= 0) return { days: null, problem: `Days must be a number above 0. Given: ${typed}.` };
  return { days, problem: null };
}

export function isExpired(token: Pick<UserToken, "expires_utc">, now: number): boolean {
  return new Date(token.expires_utc).getTime() <= now;
}

/** Both fields, before they go to the keeper. */
export function passwordProblem(first: string, second: string): string | null {
  if (!first) return null;
  if (second && first !== second) return "The two are not the same.";
  return null;
}
