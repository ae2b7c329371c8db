// What every environment must do alike.

import { Encoding, Pack, count, fitMessages } from "llm-context-pack";

/** Uses the package, and returns the results. */
export async function check() {
  const encoding = await Encoding.load("o200k_base");
  const messages = Array.from({ length: 21 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Words of turn ${at}: größer, 日本語, 🦀. `.repeat(20),
  }));
  const fitted = await fitMessages(messages, { budget: 800, model: "gpt-5" });
  const content = 'fn main() {\n    println!("Größe");\n}\n'.repeat(200);
  const files = ["src/main.rs", "src/lib.rs", "README.md"].map((path) => ({ path, content }));
  const pack = await Pack.fromFiles(files, { query: "what does main print?" });
  const texts = {};
  for (const mode of ["xml", "markdown", "minimal"]) {
    texts[mode] = await pack.render({ budget: 900, mode });
  }
  return {
    count: await count("a budget is a promise", { model: "gpt-5" }),
    ids: [...encoding.encode("hello world")],
    messages: fitted.messages,
    usedTokens: fitted.report.usedTokens,
    pack: [...pack.toBytes()],
    texts,
  };
}
