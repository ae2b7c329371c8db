import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { expect, test } from "vitest";
import { dist, inChromium, leftOut } from "./browser.js";
import { command } from "./platform.js";
import { check } from "./smoke/check.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
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

for (const [name, ...flags] of [["bun"], ["deno", "run", "-A"]] as const) {
  smoke(`${name} packs a folder`, async () => {
    const program = `${here}node_modules/.bin/${name}`;
    const args = [...flags, "smoke/folder.mjs", `${here}smoke`, command];
    const { stdout } = await run(program, args, { cwd: here });
    expect(stdout).toContain("check.mjs\n");
  });

  smoke(`${name} resumes a session`, async () => {
    const program = `${here}node_modules/.bin/${name}`;
    const folder = await mkdtemp(join(tmpdir(), "lcp-js-"));
    try {
      const args = [...flags, "smoke/session.mjs", join(folder, "sessions.sqlite"), command];
      const { stdout } = await run(program, args, { cwd: here });
      expect(stdout).toContain("Open the door.");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

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
  const script = `import("/smoke/check.mjs").then(({ check }) => check())`;
  expect(await inChromium(script)).toEqual(await check());
});
