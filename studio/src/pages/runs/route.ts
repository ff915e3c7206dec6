import { STATUS_GROUPS } from "@/components/StatusPill";
import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [
    { path: "/runs", title: "Runs", load: () => import("./Runs"), nav: { label: "Runs", icon: "runs", order: 20, keys: "g r" } },
    {
      path: "/experiments/:experiment",
      title: (params) => params.experiment ?? "",
      above: () => [{ title: "Experiments", to: "/experiments" }],
      load: () => import("./Runs"),
    },
  ],
  commands: [
    { title: "Show failed runs", icon: "failed", words: "errors broken", run: () => navigate("/runs?status=Failed") },
    { title: "Show running runs", icon: "running", words: "live active now", run: () => navigate(`/runs?status=${STATUS_GROUPS.running.join(",")}`) },
    { title: "Show waiting runs", icon: "waiting", words: "queued pending", run: () => navigate(`/runs?status=${STATUS_GROUPS.waiting.join(",")}`) },
    { title: "Show the longest runs", icon: "sort", words: "slow duration", run: () => navigate("/runs?sort=-duration") },
    { title: "Show archived runs", icon: "folder", words: "old hidden", run: () => navigate("/runs?view=archive") },
    { title: "Show the bin", icon: "trash", words: "deleted runs restore undelete", run: () => navigate("/runs?view=bin") },
  ],
});
