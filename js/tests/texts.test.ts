import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inChromium, leftOut } from "./browser.js";
import { hashes } from "./smoke/texts.mjs";

// `cargo xtask ci-packages` writes packs and their rendered texts to this folder.
const folder = process.env["LCP_TEXTS"];

const packs = folder === undefined ? [] : await names(folder);

async function names(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".lcp"));
}

/** Returns the hashes of the texts that the command wrote. */
async function expected(folder: string): Promise<Record<string, string>> {
  const texts = (await readdir(folder)).filter((name) => name.endsWith(".txt"));
  const hash = async (name: string): Promise<[string, string]> => {
    const text = await readFile(join(folder, name));
    return [name, createHash("sha256").update(text).digest("hex")];
  };
  return Object.fromEntries(await Promise.all(texts.map(hash)));
}

test.skipIf(folder === undefined)(
  "texts are those of the command",
  { timeout: 300_000 },
  async () => {
    const read = (name: string): Promise<Uint8Array> => readFile(join(folder ?? "", name));
    const texts = await expected(folder ?? "");
    expect(Object.keys(texts).length).toBeGreaterThanOrEqual(150);
    expect(await hashes(packs, read)).toEqual(texts);
  },
);

test.skipIf(folder === undefined || leftOut.includes("chromium"))(
  "texts in a browser are those of the command",
  { timeout: 300_000 },
  async () => {
    const script = `import("/smoke/texts.mjs").then(({ hashes, download }) =>
      hashes(${JSON.stringify(packs)}, download))`;
    const results = await inChromium(script, { "/texts/": folder ?? "" });
    expect(results).toEqual(await expected(folder ?? ""));
  },
);
