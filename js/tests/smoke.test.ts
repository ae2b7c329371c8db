import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { check } from "./smoke/check.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const manifest = createRequire(import.meta.url).resolve("llm-context-pack/package.json");
const dist = manifest.replace(/package\.json$/, "dist/");

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The environments that are left out: names with commas between them. */
const leftOut = (process.env["LCP_WITHOUT"] ?? "").split(",");

const smoke = (name: string, body: () => Promise<void>): void => {
  test.skipIf(leftOut.includes(name))(name, { timeout: 120_000 }, body);
};

smoke("bun", async () => {
  const { stdout } = await run(`${here}node_modules/.bin/bun`, ["smoke/main.mjs"], {
    cwd: here,
    maxBuffer: 1 << 24,
  });
  expect(JSON.parse(stdout)).toEqual(await check());
});

smoke("deno", async () => {
  const { stdout } = await run(`${here}node_modules/.bin/deno`, ["run", "-A", "smoke/main.mjs"], {
    cwd: here,
    maxBuffer: 1 << 24,
  });
  expect(JSON.parse(stdout)).toEqual(await check());
});

smoke("miniflare", async () => {
  const { outputFiles } = await build({
    entryPoints: [`${here}smoke/worker.mjs`],
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["*.wasm", "*.bpe"],
  });
  const worker = new Miniflare({
    compatibilityDate: "2026-04-01",
    modules: [
      { type: "ESModule", path: "worker.mjs", contents: outputFiles[0]?.text ?? "" },
      {
        type: "CompiledWasm",
        path: "lcp.wasm",
        contents: await readFile(`${dist}wasm/lcp_bg.wasm`),
      },
      {
        type: "Data",
        path: "o200k_base.bpe",
        contents: await readFile(`${dist}vocabularies/o200k_base.bpe`),
      },
    ],
  });
  try {
    const response = await worker.dispatchFetch("http://localhost/");
    expect(await response.json()).toEqual(await check());
  } finally {
    await worker.dispose();
  }
});

smoke("chromium", async () => {
  const program = process.env["CHROMIUM"] ?? BROWSERS.find((path) => existsSync(path));
  const imports = { "llm-context-pack": "/dist/index.js", "#files": "/dist/files_web.js" };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const types: Record<string, string> = {
    js: "text/javascript",
    mjs: "text/javascript",
    wasm: "application/wasm",
  };
  const server = createServer(async ({ url = "/" }, response) => {
    try {
      const path = url.startsWith("/dist/") ? dist + url.slice(6) : here + url.slice(1);
      const body = url === "/" ? page : await readFile(path);
      const type = url === "/" ? "text/html" : (types[url.split(".").at(-1) ?? ""] ?? "text/plain");
      response.writeHead(200, { "content-type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0);
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  const browser = await chromium.launch({ executablePath: program ?? "chromium", args });
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    const results = await tab.evaluate(`import("/smoke/check.mjs").then(({ check }) => check())`);
    expect(results).toEqual(await check());
  } finally {
    await browser.close();
    server.close();
  }
});
