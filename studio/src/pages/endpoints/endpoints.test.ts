import { describe, expect, it } from "vitest";
import { freeName, isPicture, latencyChart, modelsOf, rateChart, readPrediction, readTimings, sharesAfter, shownRange, snippets, stateLook, underWay, whatAnswers } from "./endpoints";

const SERIES = { version: "default", times: [10, 20], requests: [20, 0], errors: [1, 0], p50_ms: [1, 2], p95_ms: [3, 4], p99_ms: [5, 6], run_ms: [1, 1], queue_ms: [0, 0], batch: [1, 1] };

describe("states", () => {
  it("have a word, a tone and an icon", () => expect(stateLook("Healthy")).toMatchObject({ word: "Healthy", tone: "good" }));
  it("that are not known are shown as they are", () => expect(stateLook("Odd")).toMatchObject({ word: "Odd", tone: "idle" }));
});

describe("what is under way", () => {
  const operation = { kind: "update", state: "Running", words: "environment is being prepared", error: null, version: "default", started_utc: "", ended_utc: null };
  it("is said", () => expect(underWay({ operation } as never)).toBe("Updating: environment is being prepared"));
  it("is nothing when it is done", () => expect(underWay({ operation: { ...operation, state: "Succeeded" } } as never)).toBeNull());
});

describe("charts", () => {
  it("one version has three curves", () => expect(latencyChart([SERIES]).curves.map((curve) => curve.label)).toEqual(["p50", "p95", "p99"]));
  it("several are told apart by name and colour", () => {
    const { curves, data } = latencyChart([SERIES, { ...SERIES, version: "blue", times: [20, 30] }]);
    expect(curves.map((curve) => curve.label)).toContain("blue p95");
    expect(new Set(curves.map((curve) => curve.color)).size).toBe(6);
    expect(data[0]).toEqual([10, 20, 30]);
  });
  it("begin a little before the first request, never before what was asked for", () => {
    expect(shownRange([{ ...SERIES, times: [5000] }], 6000, 3600)).toEqual([4940, 6000]);
    expect(shownRange([{ ...SERIES, times: [2000] }], 6000, 3600)).toEqual([2400, 6000]);
    expect(shownRange([], 6000, 3600)).toEqual([5940, 6000]);
  });
  it("rates are per second", () => expect(rateChart([SERIES], 10).data).toEqual([[10, 20], [2, 0], [0.1, 0]]));
});

describe("answers", () => {
  it("with a label are a prediction, the likeliest first", () =>
    expect(readPrediction({ label: "rook", probability: 0.9, probabilities: { crow: 0.1, rook: 0.9 } })).toEqual({ label: "rook", probability: 0.9, all: [["rook", 0.9], ["crow", 0.1]] }));
  it("without all classes have the one", () => expect(readPrediction({ label: 3, probability: 1 })?.all).toEqual([["3", 1]]));
  it("of another shape are none", () => {
    for (const other of [null, 4, "rook", [1], { outputs: {} }, { label: "x" }]) expect(readPrediction(other)).toBeNull();
  });
  it("tell their stages", () => expect(readTimings("queue;dur=0.1, run;dur=2.5, batch;desc=3")).toEqual([["queue", 0.1], ["run", 2.5]]));
  it("without stages tell none", () => expect(readTimings(null)).toEqual([]));
});

describe("snippets", () => {
  const one = { name: "birds", scoring_uri: "http://127.0.0.1:41234/score", auth_enabled: true, token_auth_enabled: false, versions: [{ inference: null, no_code: "onnx" }] };
  it("ask for a key by name, never show one", () => {
    expect(snippets(one as never).curl).toContain("Bearer $KEY");
    expect(snippets(one as never).python).toContain('os.environ["KEY"]');
  });
  it("send a picture to what takes pictures, JSON to a script", () => {
    expect(snippets(one as never).curl).toContain("@picture.jpg");
    const served = { ...one, versions: [{ inference: {}, no_code: null }] }; // of a pipeline
    expect(snippets({ ...served, properties: { takes: "pictures" } } as never).curl).toContain("@picture.jpg");
    expect(snippets({ ...served, properties: { takes: "rows" } } as never).python).toContain('json.dumps({"data": [{"column": 1}]})');
    expect(snippets({ ...one, versions: [{ inference: {}, no_code: null }], auth_enabled: false } as never).curl).toBe(`curl http://127.0.0.1:41234/score \\\n  -H "Content-Type: application/json" \\\n  -d '{"data": [[1, 2, 3]]}'`);
  });
});

describe("shares of traffic", () => {
  const versions = [
    { name: "green", traffic: 90, is_default: true },
    { name: "blue", traffic: 10, is_default: false },
  ];
  it("what is left over is the default version's", () => expect(sharesAfter(versions, "blue", 40)).toEqual(new Map([["green", 60], ["blue", 40]])));
  it("the default's own cannot be set, nor more than there is", () => {
    expect(sharesAfter(versions, "green", 40)).toBeNull();
    expect(sharesAfter(versions, "blue", 101)).toBeNull();
    expect(sharesAfter(versions, "blue", NaN)).toBeNull();
  });
});

describe("names", () => {
  it("come from the model", () => expect(freeName("Bird Net_1", [])).toBe("bird-net-1"));
  it("are free", () => expect(freeName("birds", ["birds", "birds-2"])).toBe("birds-3"));
  it("of models, each once", () => expect(modelsOf({ versions: [{ models: [{ name: "a", version: 1 }] }, { models: [{ name: "a", version: 1 }, { name: "b", version: 2 }] }] } as never)).toEqual(["a:1", "b:2"]));
  it("of what answers", () => {
    expect(whatAnswers({ versions: [{ models: [{ name: "a", version: 1 }] }], properties: {} } as never)).toBe("a:1");
    expect(whatAnswers({ versions: [{ models: [] }], properties: { pipeline: "birds" } } as never)).toBe("the pipeline birds");
  });
});

describe("files", () => {
  it("are pictures by type or name", () => expect([isPicture({ type: "image/webp", name: "x" }), isPicture({ type: "", name: "A.JPG" }), isPicture({ type: "application/json", name: "x.json" })]).toEqual([true, true, false]));
});
