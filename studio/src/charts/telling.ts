/** Which metric says most about a run, where only one is drawn. Pure. */

/** A loss before a measure of quality before anything else before counters; of those the shortest name. */
export function byTelling(a: string, b: string): number {
  return rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function rank(name: string): number {
  if (/progress|epoch|step|^lr$|learning_rate|time|seconds/i.test(name)) return 3;
  return /loss|error|perplexity/i.test(name) ? 0 : /acc|f1|auc|score|reward|map|iou/i.test(name) ? 1 : 2;
}
