import { isOver } from "@/components/StatusPill";
import { defineTab } from "../tabs";

export default defineTab({ id: "reproduce", label: "Reproduce", order: 70, isShown: ({ run }) => run.kind !== "child" && isOver(run.status) && (run.spec.script != null || run.spec.command != null), load: () => import("./ReproduceTab") });
