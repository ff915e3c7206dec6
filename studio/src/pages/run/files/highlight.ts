/** Python, YAML and JSON told apart into words of one kind each, line by line. Small on purpose: it colours, it does not understand. No React. */

export type Kind = "plain" | "key" | "word" | "text" | "number" | "note";
export type Piece = readonly [kind: Kind, text: string];
export type Language = "python" | "yaml" | "json" | "shell" | "plain";

const ENDINGS: Record<string, Language> = { py: "python", pyi: "python", yml: "yaml", yaml: "yaml", json: "json", jsonl: "json", ipynb: "json", sh: "shell", bash: "shell", toml: "yaml", cfg: "yaml", ini: "yaml" };

export function languageOf(name: string): Language {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return ENDINGS[ending] ?? "plain";
}

const PYTHON_WORDS =
  "False|None|True|and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield";
const SHELL_WORDS = "if|then|else|elif|fi|for|in|do|done|while|case|esac|function|export|set|return|exit|source";

type Rule = readonly [kind: Kind, pattern: RegExp];

// Sticky: each is tried at one place only, so that a long line costs no more than its length.
const PYTHON: Rule[] = [
  ["note", /#.*/y],
  ["text", /[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/y],
  ["key", /@[\w.]+/y],
  ["word", new RegExp(`(?:${PYTHON_WORDS})\\b`, "y")],
  ["number", /(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)j?/y],
  ["plain", /[A-Za-z_]\w*/y],
];
const YAML: Rule[] = [
  ["note", /#.*/y],
  ["text", /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y],
  ["key", /\[[\w.-]+\](?=\s*$)|[A-Za-z_][\w./ -]*?(?=\s*[:=](?:\s|$))/y],
  ["word", /(?:true|false|null|yes|no|on|off)\b/iy],
  ["number", /-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y],
  ["plain", /[\w./-]+/y],
];
const JSON_RULES: Rule[] = [
  ["key", /"(?:[^"\\]|\\.)*"(?=\s*:)/y],
  ["text", /"(?:[^"\\]|\\.)*"?/y],
  ["word", /(?:true|false|null|NaN|-?Infinity)\b/y],
  ["number", /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
];
const SHELL: Rule[] = [
  ["note", /#.*/y],
  ["text", /"(?:[^"\\]|\\.)*"?|'[^']*'?/y],
  ["key", /\$(?:\{[^}]*\}?|\w+)/y],
  ["word", new RegExp(`(?:${SHELL_WORDS})\\b`, "y")],
  ["plain", /[\w./-]+/y],
];
const RULES: Record<Language, Rule[]> = { python: PYTHON, yaml: YAML, json: JSON_RULES, shell: SHELL, plain: [] };
const LONGEST = 2000; // beyond it a line is shown as it is

/** The lines of a text, each in pieces. Only Python's triple quotes reach over lines. */
export function highlight(text: string, language: Language): Piece[][] {
  const rules = RULES[language];
  let quote: string | null = null;
  return toLines(text).map((line) => {
    if (rules.length === 0 || line.length > LONGEST) return [["plain", line]];
    if (language !== "python") return pieces(line, rules);
    const [found, after] = pythonLine(line, quote);
    quote = after;
    return found;
  });
}

/** Without the empty one after the last newline. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  return lines;
}

function pythonLine(line: string, open: string | null): [Piece[], string | null] {
  const found: Piece[] = [];
  let rest = line;
  let quote = open;
  for (;;) {
    if (quote !== null) {
      const end = rest.indexOf(quote);
      if (end < 0) {
        if (rest) found.push(["text", rest]);
        return [found, quote];
      }
      found.push(["text", rest.slice(0, end + 3)]);
      rest = rest.slice(end + 3);
      quote = null;
    }
    const start = tripleStart(rest);
    if (start === null) return [[...found, ...pieces(rest, PYTHON)], null];
    found.push(...pieces(rest.slice(0, start.at), PYTHON), ["text", rest.slice(start.at, start.at + start.length)]);
    quote = start.quote;
    rest = rest.slice(start.at + start.length);
  }
}

/** Where a triple quote opens, outside of comments and plain texts. */
function tripleStart(line: string): { at: number; length: number; quote: string } | null {
  const scan = /#.*|([rbfuRBFU]{0,2})("""|''')|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/g;
  for (let match = scan.exec(line); match; match = scan.exec(line)) {
    if (match[2]) return { at: match.index, length: match[0].length, quote: match[2] };
    if (match[0] === "") scan.lastIndex += 1;
  }
  return null;
}

function pieces(line: string, rules: readonly Rule[]): Piece[] {
  const found: Piece[] = [];
  let plain = "";
  let at = 0;
  while (at < line.length) {
    const [kind, text] = take(line, at, rules);
    if (kind === "plain") plain += text;
    else {
      if (plain) found.push(["plain", plain]);
      plain = "";
      found.push([kind, text]);
    }
    at += text.length;
  }
  if (plain) found.push(["plain", plain]);
  return found;
}

function take(line: string, at: number, rules: readonly Rule[]): Piece {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const text = pattern.exec(line)?.[0];
    if (text) return [kind, text];
  }
  return ["plain", line[at] as string];
}
