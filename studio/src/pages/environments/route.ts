import { definePages } from "@/registry";

const above = () => [{ title: "Environments", to: "/environments" }];

export default definePages({
  pages: [
    { path: "/environments", title: "Environments", load: () => import("./EnvironmentList"), nav: { label: "Environments", icon: "environment", order: 50, keys: "g e" } },
    { path: "/environments/:name", title: (params) => params.name ?? "", above, load: () => import("./EnvironmentPage") },
    { path: "/environments/built/:key", title: (params) => (params.key ?? "").slice(0, 12), above, load: () => import("./BuiltPage") },
  ],
});
