import { createRequire } from "node:module";
import { defineConfig } from "vitest/config";

const manifest = createRequire(import.meta.url).resolve("llm-context-pack/package.json");

export default defineConfig({
  // The module inside of the package, of which a test replaces a function.
  resolve: { alias: { "#native": manifest.replace(/package\.json$/, "dist/wasm/lcp.js") } },
  test: { testTimeout: 60_000, hookTimeout: 60_000 },
});
