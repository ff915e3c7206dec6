/** JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` may stand bare where a number does. */

const TOKENS = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return JSON.parse(text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"\\u0000${token}"`)), revive);
  }
}

function revive(_key: string, value: unknown): unknown {
  if (value === "\u0000NaN") return NaN;
  if (value === "\u0000Infinity") return Infinity;
  return value === "\u0000-Infinity" ? -Infinity : value;
}
