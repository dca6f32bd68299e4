import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: here("../src/airboss/static"),
    emptyOutDir: true,
    target: ["chrome123", "firefox120", "safari17.5"], // the first with light-dark()
    assetsInlineLimit: 0, // nothing inline: the content security policy allows none of it
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: { index: here("index.html"), test: here("test.html") } },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
