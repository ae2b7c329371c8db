// A browser, and a server of files for it.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const manifest = createRequire(import.meta.url).resolve("llm-context-pack/package.json");

/** The folder of the package that is published. */
export const dist = manifest.replace(/package\.json$/, "dist/");

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The environments that are left out: names with commas between them. */
export const leftOut = (process.env["LCP_WITHOUT"] ?? "").split(",");

/** Starts a browser without a window. */
export async function launch(): Promise<Browser> {
  const program = process.env["CHROMIUM"] ?? BROWSERS.find((path) => existsSync(path));
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return await chromium.launch({ executablePath: program ?? "chromium", args });
}

const TYPES: Record<string, string> = {
  css: "text/css",
  html: "text/html",
  js: "text/javascript",
  mjs: "text/javascript",
  wasm: "application/wasm",
};

/** Serves files by their path. `/` is a page. */
export function serve(read: (path: string) => Promise<string | Uint8Array>): {
  address: string;
  close: () => void;
} {
  const server = createServer(async ({ url = "/" }, response) => {
    try {
      const body = await read(url);
      const type = url === "/" ? "text/html" : TYPES[url.split(".").at(-1) ?? ""];
      response.writeHead(200, { "content-type": type ?? "text/plain" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0);
  const { port } = server.address() as AddressInfo;
  return { address: `http://localhost:${port}/`, close: () => void server.close() };
}

/**
 * Runs a script in a page that can import the package and the scripts of `smoke/`, and returns its
 * result. The server also has these folders, by the beginning of their paths.
 */
export async function inChromium(
  script: string,
  folders: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const imports = { "llm-context-pack": "/dist/index.js", "#files": "/dist/files_web.js" };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const served = { "/dist/": dist, "/smoke/": join(import.meta.dirname, "smoke"), ...folders };
  const server = serve(async (path) => {
    if (path === "/") {
      return page;
    }
    const [start, folder] = Object.entries(served).find(([start]) => path.startsWith(start)) ?? [];
    return await readFile(join(folder ?? "", path.slice(start?.length)));
  });
  const browser = await launch();
  try {
    const tab = await browser.newPage();
    await tab.goto(server.address);
    return await tab.evaluate(script);
  } finally {
    await browser.close();
    server.close();
  }
}
