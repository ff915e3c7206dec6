import { definePages } from "@/registry";

export default definePages({
  pages: [{ path: "/", title: "Home", load: () => import("./Home"), nav: { label: "Home", icon: "home", order: 10, keys: "g h" } }],
});
