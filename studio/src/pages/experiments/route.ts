import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [{ path: "/experiments", title: "Experiments", load: () => import("./Experiments"), nav: { label: "Experiments", icon: "folder", order: 25, keys: "g x" } }],
  commands: [{ title: "Show archived experiments", icon: "folder", words: "old hidden", run: () => navigate("/experiments?view=archived") }],
});
