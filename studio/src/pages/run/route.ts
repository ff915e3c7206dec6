import { definePages } from "@/registry";

export default definePages({
  pages: [{ path: "/runs/:id", title: (params) => params.id ?? "", above: () => [{ title: "Runs", to: "/runs" }], load: () => import("./RunPage") }],
});
