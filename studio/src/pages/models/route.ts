import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [
    { path: "/models", title: "Models", load: () => import("./ModelList"), nav: { label: "Models", icon: "model", order: 40, keys: "g m" } },
    {
      path: "/models/:name",
      title: (params) => params.name ?? "",
      above: () => [{ title: "Models", to: "/models" }],
      load: () => import("./ModelPage"),
    },
  ],
  commands: [{ title: "Register a model", icon: "plus", words: "registry version outputs", run: () => navigate("/models?register=choose") }],
});
