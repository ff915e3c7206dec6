import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [{ path: "/compare", title: "Compare", above: () => [{ title: "Runs", to: "/runs" }], load: () => import("./Compare") }],
  commands: [{ title: "Compare runs", icon: "compare", words: "difference curves parallel scatter", run: () => navigate("/compare") }],
});
