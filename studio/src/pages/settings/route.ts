import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [{ path: "/settings", title: "Settings", load: () => import("./Settings"), nav: { label: "Settings", icon: "settings", order: 90, keys: "g s" } }],
  commands: [
    { title: "Create a token", icon: "key", words: "api secret login", run: () => navigate("/settings?tab=tokens") },
    { title: "Choose a time zone", icon: "waiting", words: "utc clock times", run: () => navigate("/settings?tab=look") },
  ],
});
