import { definePages } from "@/registry";
import { navigate } from "@/router/location";

export default definePages({
  pages: [
    { path: "/data", title: "Data", load: () => import("./DataList"), nav: { label: "Data", icon: "data", order: 70, keys: "g d" } },
    {
      path: "/data/:name",
      title: (params) => params.name ?? "",
      above: () => [{ title: "Data", to: "/data" }],
      load: () => import("./DatasetPage"),
    },
  ],
  commands: [{ title: "Upload data", icon: "plus", words: "data set folder zip drop pictures", run: () => navigate("/data?upload=yes") }],
});
