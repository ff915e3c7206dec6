/** Cards and a graph for the tests beside: as the keeper gives them, cut to what is tested. */
import { emptyGraph, toCatalog, type Card, type CardParameter, type CardPort, type Graph } from "./model";

export function port(name: string, types: string[], optional = false): CardPort {
  return { name, label: name.replaceAll("_", " "), types, optional, help: "" };
}

export function parameter(name: string, kind: string, more: Partial<CardParameter> = {}): CardParameter {
  return { name, label: name.replaceAll("_", " "), kind, help: "", required: false, default: null, low: null, high: null, above: null, choices: [], when: null, ...more };
}

function card(name: string, inputs: CardPort[], outputs: CardPort[], parameters: CardParameter[] = []): Card {
  return { name, title: name.replaceAll("_", " "), category: "Vision", help: `Does ${name}.`, distributed: false, inputs, outputs, parameters };
}

export const CARDS: Card[] = [
  card("convert", [port("input", ["AnyDirectory", "ZipFile"])], [port("pictures", ["ImageDirectory"])]),
  card("split", [port("pictures", ["ImageDirectory"])], [port("first", ["ImageDirectory"]), port("second", ["ImageDirectory"])], [parameter("fraction", "Float", { default: 0.9, low: 0, high: 1 })]),
  card("densenet", [], [port("net", ["UntrainedModelDirectory"])], [parameter("model_name", "Mode", { default: "densenet201", choices: ["densenet121", "densenet201"] })]),
  card(
    "train",
    [port("net", ["UntrainedModelDirectory"]), port("training", ["ImageDirectory"]), port("validation", ["ImageDirectory"])],
    [port("model", ["ModelDirectory"])],
    [parameter("epochs", "Integer", { default: 5, above: 0 }), parameter("mode", "Mode", { required: true, choices: ["a", "b"] })],
  ),
];
export const CATALOG = toCatalog(CARDS);

/** data → convert → split → train ← densenet. */
export function birds(): Graph {
  return {
    ...emptyGraph("birds"),
    nodes: {
      data: { kind: "data", dataset: "birds", version: null },
      convert: { kind: "module", module: "convert", inputs: { input: { node: "data", port: "data" } } },
      split: { kind: "module", module: "split", inputs: { pictures: { node: "convert", port: "pictures" } } },
      net: { kind: "module", module: "densenet" },
      train: {
        kind: "module",
        module: "train",
        parameters: { mode: "a" },
        inputs: { net: { node: "net", port: "net" }, training: { node: "split", port: "first" }, validation: { node: "split", port: "second" } },
      },
    },
    layout: { data: { x: 0, y: 0 }, convert: { x: 0, y: 100 }, split: { x: 0, y: 200 }, net: { x: 300, y: 200 }, train: { x: 100, y: 300 } },
  };
}
