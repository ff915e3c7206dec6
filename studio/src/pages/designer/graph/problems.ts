/** What is wrong with a graph, by node; and a check of our own for the moment before the keeper has answered. */
import { boundTo, cardOf, titleOf, type Catalog, type Graph, type GraphNode } from "./model";
import { check, counts } from "./parameters";
import { portsOf } from "./ports";

export interface Problem {
  node: string | null;
  field: string | null;
  code: string;
  message: string;
}

/** The first problem of each node that has one. */
export function byNode(problems: readonly Problem[]): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  for (const problem of problems) {
    if (problem.node === null) continue;
    const list = found.get(problem.node);
    if (list) list.push(problem);
    else found.set(problem.node, [problem]);
  }
  return found;
}

/** Something is not there yet, rather than wrong: amber, not red, while one is still building. */
export function isMissing(problem: Problem): boolean {
  return /missing|required|empty/.test(problem.code);
}

/** The keeper's problems, without those whose node or field was mended since it was asked. Ours of parameters and inputs take their place. */
export function ownProblems(graph: Graph, catalog: Catalog): Problem[] {
  const found: Problem[] = [];
  for (const [id, node] of Object.entries(graph.nodes)) {
    const title = titleOf(node, catalog);
    const ports = portsOf(graph, id, catalog);
    if (!ports.isKnown) {
      found.push({ node: id, field: null, code: "unknown_module", message: `${title}: ${whatIsMissing(node, catalog)}` });
      continue;
    }
    for (const port of ports.inputs) {
      if (!port.optional && !node.inputs?.[port.name]) found.push({ node: id, field: port.name, code: "missing_input", message: `${title}: input '${port.label}' is not connected. It takes ${port.types.join(" or ") || "anything"}.` });
    }
    const card = cardOf(node, catalog);
    for (const parameter of card?.parameters ?? []) {
      const given = node.parameters?.[parameter.name];
      if (!counts(parameter, card?.parameters ?? [], node.parameters ?? {})) continue;
      const bound = boundTo(given);
      if (bound !== null) {
        if (!graph.parameters?.[bound]) found.push({ node: id, field: parameter.name, code: "unknown_parameter", message: `${title}: ${parameter.label} is bound to the pipeline's parameter '${bound}', which is not there.` });
        continue;
      }
      const { problem } = check(parameter, given);
      if (problem) found.push({ node: id, field: parameter.name, code: given === undefined ? "missing_parameter" : "bad_parameter", message: `${title}: ${problem}` });
    }
  }
  return found;
}

function whatIsMissing(node: GraphNode, catalog: Catalog): string {
  const card = catalog.get(node.module ?? "");
  if (card) return `module '${card.name}' has no version '${node.version}' here. The default is ${String(card.version)}; put it in its place, or add the other with \`rookery module add\`.`;
  return `there is no module '${node.module ?? node.kind}' here. It is kept as it is; add it with \`rookery module add\`, or put another in its place.`;
}
