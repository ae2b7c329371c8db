// Returns the results, for edge workers, which get the files of the package from their bundle.

import { init } from "llm-context-pack";
import wasm from "lcp.wasm";
import o200k_base from "o200k_base.bpe";
import { check } from "./check.mjs";

export default {
  async fetch() {
    await init({ wasm, vocabularies: { o200k_base } });
    return Response.json(await check());
  },
};
