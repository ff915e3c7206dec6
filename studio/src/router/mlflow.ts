/** Addresses as MLflow's own page has them, which its client prints after every run (`…/#/experiments/3/runs/8f…`), led to our pages. */
import { call } from "@/api/client";
import { navigate } from "./location";

/** Where such an address leads: a page of ours, or the experiment of an id, whose name has to be asked for. Null: it is none of theirs. */
export function fromMlflow(hash: string): { to: string } | { experiment: string } | null {
  if (!hash.startsWith("#/")) return null;
  const [path = "", query = ""] = hash.slice(2).split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decode);
  const [noun, name, what, which, tab = ""] = parts;
  if (noun === "experiments" && name && what === "runs" && which) return { to: `/runs/${encodeURIComponent(which)}${TABS[tab] ?? ""}` };
  if (noun === "experiments") return name ? { experiment: name } : { to: "/experiments" };
  if (noun === "models" && name) return { to: `/models/${encodeURIComponent(name)}${what === "versions" && which ? `?version=${encodeURIComponent(which)}` : ""}` };
  if (noun === "models") return { to: "/models" };
  if (noun === "compare-runs") {
    const runs = idsIn(new URLSearchParams(query).get("runs"));
    return { to: runs.length > 1 ? `/compare?runs=${runs.map(encodeURIComponent).join(",")}` : "/runs" };
  }
  return { to: "/" };
}

/** Follows what stands in the address now, and whatever is put there later. */
export function followMlflowLinks(): void {
  window.addEventListener("hashchange", () => void follow());
  void follow();
}

async function follow(): Promise<void> {
  const found = fromMlflow(location.hash);
  if (!found) return;
  navigate("to" in found ? found.to : await experimentAddress(found.experiment), { replace: true });
}

async function experimentAddress(id: string): Promise<string> {
  try {
    const { experiments } = await call("list_experiments", { query: { view: "all" } });
    const found = experiments.find((each) => each.id === id);
    return found ? `/experiments/${encodeURIComponent(found.name)}` : "/experiments";
  } catch {
    return "/experiments"; // which says what is wrong
  }
}

const TABS: Record<string, string> = { artifacts: "?tab=outputs", "model-metrics": "?tab=metrics", "system-metrics": "?tab=nodes" };

function idsIn(text: string | null): string[] {
  try {
    const found: unknown = JSON.parse(text ?? "");
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
