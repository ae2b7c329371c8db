import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { installCommand } from "./platform.js";

const run = promisify(execFile);

const repository = process.env["LCP_REPOSITORY"] ?? join(import.meta.dirname, "../..");
const folder = join(import.meta.dirname, "node_modules/.snippets");

/** A snippet of TypeScript, and its output, which may follow it. */
const SNIPPET = /^```ts\n(?<code>.*?)^```\n(?:\n```text\n(?<output>.*?)^```)?/gms;

const PAGES = [
  { page: join(import.meta.dirname, "../README.md"), count: 3 },
  { page: join(repository, "README.md"), count: 1 },
  { page: join(repository, "docs/typescript.md"), count: 12 },
];

test.each(PAGES)("the snippets of $page run", async ({ page, count }) => {
  const snippets = [...(await readFile(page, "utf8")).matchAll(SNIPPET)];
  expect(snippets).toHaveLength(count);
  await installCommand();
  // Without the sessions of an earlier run.
  await rm(folder, { recursive: true, force: true });
  // The folder of the snippet of `packDirectory`.
  await mkdir(join(folder, "src"), { recursive: true });
  await writeFile(
    join(folder, "src/retry.ts"),
    "export const retry = () => {\n  while (true) send();\n};\n",
  );
  const colors = "export const colors = ['red', 'green'];\n".repeat(50);
  await writeFile(join(folder, "src/colors.ts"), colors);
  for (const [at, { groups }] of snippets.entries()) {
    const { code } = await transform(groups?.["code"] ?? "", { loader: "ts", format: "esm" });
    const module = join(folder, `${at}.mjs`);
    await writeFile(module, code);
    const { stdout } = await run(process.execPath, [module], { cwd: folder });
    expect(stdout).toBe(groups?.["output"] ?? "");
  }
});
