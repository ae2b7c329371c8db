// Tests of the launcher: `node --test js/bin/lcp.test.mjs`. A script takes the place of the command.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const header = process.report.getReport().header;
const libc = process.platform === "linux" ? (header.glibcVersionRuntime ? "-gnu" : "-musl") : "";
const platform = `${process.platform}-${process.arch}${libc}`;
// A shell script cannot take the place of lcp.exe.
const skip = process.platform === "win32";

const COMMAND = `#!${process.execPath}
const [task, ...rest] = process.argv.slice(2);
if (task === "arguments") console.log(JSON.stringify(rest));
if (task === "copy") process.stdin.pipe(process.stdout);
if (task === "exit") process.exitCode = Number(rest[0]);
if (task === "signal") process.kill(process.pid, rest[0]);
if (task === "wait") {
  process.on("SIGTERM", () => { console.log("cleaned up"); process.exit(7); });
  setInterval(() => {}, 1000);
  console.log("ready");
}
`;

let folder;
let launcher;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "lcp launcher "));
  const main = join(folder, "node_modules/llm-context-pack");
  mkdirSync(join(main, "bin"), { recursive: true });
  writeFileSync(join(main, "package.json"), '{"type": "module"}');
  launcher = join(main, "bin/lcp.js");
  for (const file of ["lcp.js", "platform.js"]) {
    cpSync(fileURLToPath(new URL(file, import.meta.url)), join(main, "bin", file));
  }
  install(platform);
});

after(() => rmSync(folder, { recursive: true }));

function install(name) {
  const target = join(folder, "node_modules/@llm-context-pack", name);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "package.json"), '{"type": "commonjs"}');
  writeFileSync(join(target, "lcp"), COMMAND, { mode: 0o755 });
  return target;
}

function run(args, options = {}) {
  return spawnSync(process.execPath, [launcher, ...args], { encoding: "utf8", ...options });
}

test("arguments and the exit code pass unchanged", { skip }, () => {
  const args = ["", "a b", '"', "--flag=*", "é\n", "--help"];
  assert.deepEqual(JSON.parse(run(["arguments", ...args]).stdout), args);
  assert.equal(run(["exit", "0"]).status, 0);
  assert.equal(run(["exit", "5"]).status, 5);
});

test("standard input and output are those of the command", { skip }, () => {
  const input = "line\n".repeat(200_000);
  assert.equal(run(["copy"], { input }).stdout, input);
});

test("the signal that ends the command ends the launcher", { skip }, () => {
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    assert.equal(run(["signal", signal]).signal, signal);
  }
});

test("the command handles a signal to the launcher", { skip }, async () => {
  const child = spawn(process.execPath, [launcher, "wait"]);
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
    if (output === "ready\n") child.kill("SIGTERM");
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual([code, output], [7, "ready\ncleaned up\n"]);
});

test("on musl, the launcher runs the package for musl", { skip: process.platform !== "linux" }, () => {
  // Reports of Node for musl have no version of glibc.
  const preload = join(folder, "musl.cjs");
  writeFileSync(preload, "process.report.getReport = () => ({ header: {} });");
  const musl = `linux-${process.arch}-musl`;
  const isOther = musl !== platform;
  const result = () => spawnSync(process.execPath, ["--require", preload, launcher, "exit", "3"], { encoding: "utf8" });
  if (isOther) assert.match(result().stderr, new RegExp(`${musl}, which contains`));
  const target = install(musl);
  assert.equal(result().status, 3);
  if (isOther) rmSync(target, { recursive: true });
});

test("a missing package is an error with a hint", () => {
  rmSync(join(folder, "node_modules/@llm-context-pack"), { recursive: true });
  const { status, stdout, stderr } = run(["--version"]);
  assert.deepEqual([status, stdout], [1, ""]);
  const lines = stderr.trimEnd().split("\n");
  assert.equal(lines.length, 2);
  assert.ok(lines[0].startsWith(`error: the package @llm-context-pack/${platform}, `));
  assert.ok(lines[1].startsWith("hint: install llm-context-pack again"));
  install(platform);
});
