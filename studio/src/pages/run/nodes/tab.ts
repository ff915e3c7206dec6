import { defineTab } from "../tabs";

export default defineTab({ id: "nodes", label: "Nodes", order: 60, count: (overview) => overview.run.attempts.at(-1)?.nodes.length, isShown: (overview) => overview.run.kind !== "tune" && (overview.run.attempts.length > 0 || overview.run.spec.script != null || overview.run.spec.command != null), load: () => import("./NodesTab") });
