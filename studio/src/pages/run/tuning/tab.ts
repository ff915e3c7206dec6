import { defineTab } from "../tabs";

// The first tab of a tuning: it is what one comes for.
export default defineTab({ id: "tuning", label: "Tuning", order: 5, isShown: (overview) => overview.run.kind === "tune", load: () => import("./TuningTab") });
