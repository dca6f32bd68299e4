import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip as gzipCompress } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const STATIC = here("../src/airboss/static");
const PAGES = [
  "index",
  "jobs",
  "edit",
  "jobTracking",
  "history",
  "compare",
  "inbox",
  "machines",
  "settings",
  "test",
];

/** Puts the theme's script before all else: pages wait for it, so that none is painted in another's colours. */
const theme: Plugin = {
  name: "theme-before-paint",
  apply: "build",
  buildStart() {
    this.emitFile({
      type: "asset",
      name: "theme.js",
      source: readFileSync(here("src/theme.js"), "utf-8"),
    });
  },
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle }) {
      const file = Object.values(bundle ?? {}).find(
        (output) => output.type === "asset" && output.names.includes("theme.js"),
      );
      if (file === undefined) throw new Error("The theme's script was not emitted.");
      return [{ tag: "script", attrs: { src: `/${file.fileName}` }, injectTo: "head-prepend" }];
    },
  },
};

/** Removes what an earlier build left, but not the documentation: another build puts it there. */
const emptied: Plugin = {
  name: "all-but-the-documentation-emptied",
  apply: "build",
  async buildStart() {
    const left = await readdir(STATIC).catch(() => []);
    const ours = left.filter((name) => name !== "docs");
    await Promise.all(ours.map((name) => rm(join(STATIC, name), { recursive: true })));
  },
};

const brotli = promisify(brotliCompress);
const gzip = promisify(gzipCompress);

/** Puts compressed copies beside every file: the server sends them, and compresses nothing itself. */
const compressed: Plugin = {
  name: "compressed-copies",
  apply: "build",
  async writeBundle({ dir }, bundle) {
    if (dir === undefined) throw new Error("The pages have no folder to be written to.");
    await Promise.all(Object.keys(bundle).map((name) => copy(join(dir, name))));
  },
};

async function copy(file: string): Promise<void> {
  const plain = await readFile(file);
  const copies = { br: await brotli(plain), gz: await gzip(plain, { level: 9 }) };
  for (const [suffix, packed] of Object.entries(copies)) {
    const beside = `${file}.${suffix}`;
    if (packed.length < plain.length) await writeFile(beside, packed);
    else await rm(beside, { force: true }); // of an earlier build
  }
}

/** Says on every page which build it is of: the server tells its pages' build, and one of another reloads. */
const build: Plugin = {
  name: "build-of-the-pages",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle }) {
      // Names have a hash of the content. The pages themselves are added one by one, and left out.
      const files = Object.keys(bundle ?? {}).filter((name) => name.startsWith("assets/"));
      const content = createHash("sha256").update(files.sort().join()).digest("hex").slice(0, 16);
      return [{ tag: "meta", attrs: { name: "airboss-build", content }, injectTo: "head" }];
    },
  },
};

export default defineConfig({
  root: here("."),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [emptied, theme, build, compressed],
  worker: { format: "es" },
  build: {
    outDir: STATIC,
    emptyOutDir: false,
    target: ["chrome123", "firefox120", "safari17.5"], // the first with light-dark()
    assetsInlineLimit: 0, // nothing inline: the content security policy allows none of it
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(PAGES.map((page) => [page, here(`${page}.html`)])),
    },
  },
  // One process for all: none of them changes what another reads.
  test: { include: ["src/**/*.test.ts"], environment: "node", isolate: false, pool: "threads" },
});
