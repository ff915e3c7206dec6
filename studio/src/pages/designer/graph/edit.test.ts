import { describe, expect, it } from "vitest";
import { copy, paste } from "./clipboard";
import * as edit from "./edit";
import { birds, CARDS } from "./fixtures";
import { begin, change, redo, undo } from "./history";
import { emptyGraph } from "./model";

describe("edit", () => {
  it("names new nodes by their module", () => {
    const card = CARDS[1] as (typeof CARDS)[0];
    const { graph, id } = edit.addModule(birds(), card, { x: 1.4, y: 2 });
    expect(id).toBe("split_2");
    expect(graph.layout?.[id]).toEqual({ x: 1, y: 2 });
  });
  it("removes a node with its lines, its order and its place in a group", () => {
    const grouped = { ...edit.group(birds(), ["split"]), after: [["split", "net"]] as [string, string][] };
    const graph = edit.remove(grouped, new Set(["split"]));
    expect(graph.nodes.split).toBeUndefined();
    expect(Object.keys(graph.nodes.train?.inputs ?? {})).toEqual(["net"]);
    expect(graph.after).toEqual([]);
    expect(graph.groups).toEqual([]);
    expect(graph.layout?.split).toBeUndefined();
  });
  it("keeps what it does not know", () => {
    const graph = birds();
    graph.future = { a: 1 };
    (graph.nodes.train as { novelty?: number }).novelty = 7;
    const after = edit.setParameter(edit.remove(graph, new Set(["net"])), "train", "epochs", 3);
    expect(after.future).toEqual({ a: 1 });
    expect(after.nodes.train?.novelty).toBe(7);
    expect(after.nodes.train?.parameters).toEqual({ mode: "a", epochs: 3 });
  });
  it("gives back the card's default with undefined", () => {
    expect(edit.setParameter(birds(), "train", "mode", undefined).nodes.train?.parameters).toEqual({});
  });
  it("puts a pipeline parameter's default in its place when it goes", () => {
    let graph = edit.setPipelineParameter(birds(), "rounds", { type: "integer", default: 9 });
    graph = edit.setParameter(graph, "train", "epochs", { pipeline_parameter: "rounds" });
    graph = edit.removePipelineParameter(graph, "rounds");
    expect(graph.nodes.train?.parameters?.epochs).toBe(9);
    expect(graph.parameters).toEqual({});
  });
  it("has one line into an input", () => {
    const graph = edit.connect(birds(), { node: "convert", port: "pictures" }, { node: "train", port: "training" });
    expect(graph.nodes.train?.inputs?.training).toEqual({ node: "convert", port: "pictures" });
    expect(edit.disconnect(graph, { node: "train", port: "training" }).nodes.train?.inputs?.training).toBeUndefined();
  });
});

describe("history", () => {
  it("goes back and forth, and joins changes about the same", () => {
    let history = begin("");
    for (const text of ["a", "ab", "abc"]) history = change(history, text, "typing");
    history = change(history, "x");
    history = undo(history);
    expect(history.now).toBe("abc");
    history = undo(history);
    expect(history.now).toBe("");
    expect(undo(history)).toBe(history);
    expect(redo(redo(history)).now).toBe("x");
    expect(redo(change(history, "new")).now).toBe("new");
  });
});

describe("clipboard", () => {
  it("pastes beside, with new names, keeping lines among and from what is there", () => {
    const pasted = paste(birds(), copy(birds(), new Set(["split", "train"])));
    expect(pasted?.ids).toEqual(["split_2", "train_2"]);
    expect(pasted?.graph.nodes.train_2?.inputs).toEqual({ net: { node: "net", port: "net" }, training: { node: "split_2", port: "first" }, validation: { node: "split_2", port: "second" } });
    expect(pasted?.graph.layout?.split_2).toEqual({ x: 32, y: 232 });
  });
  it("pastes into another draft without lines to what is not there, with its pipeline parameters", () => {
    const graph = edit.setParameter(edit.setPipelineParameter(birds(), "rounds", { type: "integer", default: 9 }), "train", "epochs", { pipeline_parameter: "rounds" });
    const pasted = paste(emptyGraph("other"), copy(graph, new Set(["train"])));
    expect(pasted?.graph.nodes.train?.inputs).toEqual({});
    expect(pasted?.graph.parameters).toEqual({ rounds: { type: "integer", default: 9 } });
  });
  it("leaves other text alone", () => {
    expect(paste(birds(), "hello")).toBeNull();
    expect(paste(birds(), '{"nodes": 3}')).toBeNull();
  });
});
