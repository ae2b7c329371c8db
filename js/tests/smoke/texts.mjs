// Texts of packs, in every environment.

import { Pack } from "llm-context-pack";

/** Downloads a pack. */
export async function download(name) {
  return new Uint8Array(await (await fetch(`/texts/${name}`)).arrayBuffer());
}

/** Renders packs in each mode, and returns the hash of each text. */
export async function hashes(names, read) {
  const results = {};
  for (const name of names) {
    const pack = await Pack.fromBytes(await read(name));
    for (const mode of ["xml", "markdown", "minimal"]) {
      const text = new TextEncoder().encode(await pack.render({ budget: 8_000, mode }));
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
      const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
      results[name.replace(/lcp$/, `${mode}.txt`)] = hex;
    }
  }
  return results;
}
