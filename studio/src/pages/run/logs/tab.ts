import { defineTab } from "../tabs";

export default defineTab({ id: "logs", label: "Logs", order: 30, count: (overview) => overview.logs.length, load: () => import("./LogsTab") });
