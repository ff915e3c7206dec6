import { describe, expect, it } from "vitest";
import { contentsOf, inBrief, pinsOf, toSpec } from "./contents";

const definition = {
  name: "birds",
  python: { userManagedDependencies: false, condaDependencies: { channels: ["conda-forge"], dependencies: ["python=3.10", { pip: ["torch==2.1", "pillow"] }] } },
  docker: { baseImage: "ubuntu:22.04" },
  environmentVariables: { A: "1" },
};

describe("contentsOf", () => {
  it("takes conda, pip, image and variables apart", () => {
    expect(contentsOf(definition)).toEqual({ userManaged: null, channels: ["conda-forge"], conda: ["python=3.10"], pip: ["torch==2.1", "pillow"], image: "ubuntu:22.04", variables: [["A", "1"]] });
  });
  it("bears what is missing or of another kind", () => {
    expect(inBrief(contentsOf(null))).toBe("nothing");
    expect(inBrief(contentsOf({ python: { condaDependencies: { dependencies: "x" } } }))).toBe("nothing");
    expect(inBrief(contentsOf({ python: { userManagedDependencies: true, interpreterPath: "python3" } }))).toBe("what python3 has");
  });
});

describe("inBrief", () => {
  it("counts what is left out", () => {
    expect(inBrief(contentsOf(definition), 2)).toBe("python=3.10, torch==2.1 and 1 more");
  });
});

describe("toSpec", () => {
  it("is what the keeper builds", () => {
    expect(toSpec("birds", "3", definition)).toEqual({ name: "birds", version: "3", conda: definition.python.condaDependencies });
  });
});

describe("pinsOf", () => {
  it("finds packages among hashes and comments", () => {
    const lock = "# made by us\ntorch==2.1.0 \\\n    --hash=sha256:abc\n--index x\nPillow[extra]==10.1 ; python_version > '3'\nmine @ file:///w.whl\n";
    expect(pinsOf(lock)).toEqual([
      { name: "mine", version: "file:///w.whl" },
      { name: "Pillow", version: "10.1" },
      { name: "torch", version: "2.1.0" },
    ]);
  });
});
