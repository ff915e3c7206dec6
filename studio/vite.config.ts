import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./plugins/compress.ts";
import { tokens } from "./plugins/tokens.ts";

const keeper = process.env.ROOKERY_STUDIO_KEEPER ?? "http://127.0.0.1:8787";

export default defineConfig({
  base: "./", // the keeper says in <base> where the studio is, so it works behind any prefix
  plugins: [react(), tokens(), compress()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    assetsInlineLimit: 0, // the content security policy allows no data: scripts or styles
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 400,
  },
  // `make studio-dev`: pages from here, live; everything else from a running keeper (`rookery server`).
  server: { proxy: Object.fromEntries(["/api", "/login", "/logout", "/enter"].map((path) => [path, keeper])) },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], environment: "node" },
});
