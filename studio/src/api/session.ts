/** Whether somebody is logged in, as far as this page knows; who, and what they may. */
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { baseUrl, call } from "./client";
import { keys } from "./query";

let loggedOut = false;
const listeners = new Set<() => void>();

export function setLoggedOut(now: boolean): void {
  if (now === loggedOut) return;
  loggedOut = now;
  for (const listener of listeners) listener();
}

export function useLoggedOut(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => loggedOut,
  );
}

/** Where to log in and come back to this very view. */
export function loginUrl(): string {
  const base = new URL(baseUrl());
  const here = location.pathname.slice(base.pathname.length - 1) + location.search;
  return new URL(`login?to=${encodeURIComponent(here)}`, base).toString();
}

export function useMe() {
  return useQuery({ queryKey: keys.me, queryFn: ({ signal }) => call("get_me", { signal }), staleTime: Infinity });
}

const ROLES = ["reader", "contributor", "owner"];

/** Whether the one who is logged in has this role, or one that includes it. False while it is not known. */
export function useMay(least: "reader" | "contributor" | "owner"): boolean {
  const me = useMe();
  return ROLES.indexOf(me.data?.role ?? "") >= ROLES.indexOf(least);
}

export async function logOut(): Promise<void> {
  await call("close_session");
  location.assign(new URL("login", baseUrl()));
}
