import { definePages } from "@/registry";
import { navigate } from "@/router/location";

const HERE = { title: "Designer", to: "/designer" };

export default definePages({
  pages: [
    { path: "/designer", title: "Designer", load: () => import("./DesignerHome"), nav: { label: "Designer", icon: "designer", order: 30, keys: "g p" } },
    { path: "/designer/drafts/:id", title: () => "Draft", above: () => [HERE], load: () => import("./DraftPage") },
    { path: "/designer/runs/:id", title: () => "Pipeline run", above: () => [HERE], load: () => import("./PipelineRunPage") },
    { path: "/designer/compare", title: "Compare pipeline runs", above: () => [HERE], load: () => import("./ComparePage") },
  ],
  commands: [
    { title: "Design a new pipeline", icon: "designer", words: "draft canvas graph modules create", run: () => navigate("/designer?new=yes") },
    { title: "Show sample pipelines", icon: "designer", words: "gallery examples densenet resnet", run: () => navigate("/designer?tab=gallery") },
  ],
});
