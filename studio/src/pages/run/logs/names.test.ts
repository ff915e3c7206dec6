import { describe, expect, it } from "vitest";
import { firstLog, rankOf, toChoices } from "./names";

const log = (name: string, size = 10) => ({ name, size });
const logs = [log("system_logs/agent.txt"), log("user_logs/std_log_10.txt"), log("user_logs/std_log_2.txt"), log("azureml-logs/55_azureml-execution.txt")];

describe("logs", () => {
  it("are chosen by folder, ranks first and in order", () => {
    expect(toChoices(logs).map((choice) => [choice.folder, choice.logs.map((each) => each.label)])).toEqual([
      ["user_logs", ["Rank 2", "Rank 10"]],
      ["azureml-logs", ["55_azureml-execution.txt"]],
      ["system_logs", ["agent.txt"]],
    ]);
  });
  it("open with the one asked for, then the one of the cause, then the first rank's", () => {
    expect(firstLog(logs, "system_logs/agent.txt", "user_logs/std_log_10.txt")).toBe("system_logs/agent.txt");
    expect(firstLog(logs, "gone.txt", "user_logs/std_log_10.txt")).toBe("user_logs/std_log_10.txt");
    expect(firstLog(logs, null, null)).toBe("user_logs/std_log_2.txt");
    expect(firstLog([], "x", null)).toBeNull();
  });
  it("know their rank", () => expect([rankOf("user_logs/std_log.txt"), rankOf("azureml-logs/70_driver_log_3.txt"), rankOf("a.txt")]).toEqual([0, 3, null]));
});
