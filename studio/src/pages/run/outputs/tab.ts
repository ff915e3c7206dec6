import { defineTab } from "../tabs";

export default defineTab({ id: "outputs", label: "Outputs", order: 40, count: (overview) => overview.artifacts.files, load: () => import("./OutputsTab") });
