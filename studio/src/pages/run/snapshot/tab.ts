import { defineTab } from "../tabs";

export default defineTab({ id: "snapshot", label: "Snapshot", order: 50, count: (overview) => overview.snapshot?.files, isShown: (overview) => overview.snapshot !== null, load: () => import("./SnapshotTab") });
