/** TanStack Query, set up once: when reading is tried again, what is asked anew when something happens, and how long answers keep. */
import { QueryClient, type QueryKey } from "@tanstack/react-query";
import { toApiError } from "./errors";
import { setLoggedOut } from "./session";

export const MOST_TRIES = 4;

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, error) => toApiError(error).isAway && count < MOST_TRIES,
        retryDelay: (count) => Math.min(500 * 2 ** count, 8000),
        staleTime: 10_000, // what changes is told by the event stream
        refetchOnWindowFocus: "always",
        throwOnError: false,
      },
      mutations: { retry: false },
    },
  });
}

/** Tells the page that nobody is logged in any more, whichever question found out. */
export function watchForLogout(client: QueryClient): () => void {
  return client.getQueryCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "error" && toApiError(event.action.error).isLoggedOut) setLoggedOut(true);
    if (event.type === "updated" && event.action.type === "success") setLoggedOut(false);
  });
}

/** Keys begin with the noun that an event is about, then its name: so one event asks anew for exactly what it touched. */
export const keys = {
  me: ["me"] as const,
  hello: ["hello"] as const,
  workspace: ["workspace"] as const,
  home: ["home"] as const,
  experiments: ["experiments"] as const,
  runs: (question?: object) => (question ? (["runs", question] as const) : (["runs"] as const)),
  names: (question?: object) => ["names", question ?? {}] as const,
  run: (id: string, ...part: unknown[]) => ["run", id, ...part] as QueryKey, // part: "overview", "series", {…}
  log: (id: string, ...part: unknown[]) => ["log", id, ...part] as QueryKey, // events of a run do not touch them: a log says itself when it grows
  compute: (...part: unknown[]) => ["compute", ...part] as QueryKey,
  models: (...part: unknown[]) => ["models", ...part] as QueryKey,
  environments: (...part: unknown[]) => ["environments", ...part] as QueryKey,
  data: (...part: unknown[]) => ["data", ...part] as QueryKey,
  dataContent: (...part: unknown[]) => ["data-content", ...part] as QueryKey, // what is in a version never changes
  endpoints: (...part: unknown[]) => ["endpoints", ...part] as QueryKey,
  settings: (...part: unknown[]) => ["settings", ...part] as QueryKey,
};
