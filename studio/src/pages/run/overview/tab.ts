import { defineTab } from "../tabs";

export default defineTab({ id: "overview", label: "Overview", order: 10, load: () => import("./OverviewTab") });
