import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [
    { path: "/endpoints", title: "Endpoints", load: () => import("./EndpointList"), nav: { label: "Endpoints", icon: "endpoint", order: 75, keys: "g n" } },
    {
      path: "/endpoints/:name",
      title: (params) => params.name ?? "",
      above: () => [{ title: "Endpoints", to: "/endpoints" }],
      load: () => import("./EndpointPage"),
    },
  ],
  commands: [{ title: "Deploy a model", icon: "endpoint", words: "endpoint serve service score predict", run: () => navigate("/endpoints?deploy=choose") }],
});
