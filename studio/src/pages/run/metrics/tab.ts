import { defineTab } from "../tabs";

export default defineTab({ id: "metrics", label: "Metrics", order: 20, count: (overview) => overview.metrics.length, load: () => import("./MetricsTab") });
