import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Pack, fitMessages } from "llm-context-pack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "./platform.js";

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lcp-js-"));
});

afterAll(() => rm(folder, { recursive: true }));

/** Runs the command, and returns its output. */
async function lcp(...words: string[]): Promise<string> {
  const options = { cwd: folder, encoding: "utf8" as const, maxBuffer: 1 << 26 };
  return (await run(command, words, options)).stdout;
}

test("packs of the same files have the same bytes", async () => {
  const files = [
    { path: "data.csv", content: "name,size\n" + "budget,5\n".repeat(40) },
    { path: "menu.txt", content: Buffer.from("caf\xe9, gr\xfcn\n", "latin1") },
    { path: "src/main.rs", content: 'fn main() {\n    println!("Größe");\n}\n' },
    { path: "target.bin", content: new Uint8Array(100) },
  ];
  const source = join(folder, "project");
  for (const { path, content } of files) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), content);
  }
  const path = join(folder, "project.lcp");
  await lcp("pack", source, "-o", path);
  const pack = await Pack.fromFiles(files);
  expect(Buffer.from(pack.toBytes()).equals(await readFile(path))).toBe(true);
});

test("messages are those of the command", async () => {
  const messages = Array.from({ length: 41 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Words of turn ${at}: größer, 日本語, 🦀. `.repeat(20),
  }));
  const [chat, pack] = [join(folder, "chat.json"), join(folder, "chat.lcp")];
  await writeFile(chat, JSON.stringify(messages));
  await lcp("import", chat, "--from", "openai-chat", "-o", pack);
  const request = await lcp("export", pack, "--to", "openai", "--budget", "900");
  const expected = JSON.parse(request) as { messages: object[] };
  const fitted = await fitMessages(messages, { budget: 900, headroom: 0, format: "openai-chat" });
  expect(fitted.messages).toEqual(expected.messages);
});
