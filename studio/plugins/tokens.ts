/** `import "virtual:tokens.css"`: the theme's data as custom properties, so that styles and charts have one source. */
import type { Plugin } from "vite";
import { tokensCss } from "../src/theme/css.ts";

const NAME = "virtual:tokens.css";

export function tokens(): Plugin {
  return {
    name: "rookery-tokens",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: (id) => (id === `\0${NAME}` ? tokensCss() : null),
  };
}
