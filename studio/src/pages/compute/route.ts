import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [
    { path: "/compute", title: "Compute", load: () => import("./ComputeList"), nav: { label: "Compute", icon: "compute", order: 60, keys: "g c" } },
    {
      path: "/compute/:name",
      title: (params) => params.name ?? "",
      above: () => [{ title: "Compute", to: "/compute" }],
      load: () => import("./ComputePage"),
    },
  ],
  commands: [{ title: "Create a compute target", icon: "plus", words: "cluster nodes pool attach ray slurm ssh", run: () => navigate("/compute?new=yes") }],
});
