import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { FileError, LimitError, UsageError } from "llm-context-pack";
import { packDirectory } from "llm-context-pack/node";
import type { DirectoryOptions } from "llm-context-pack/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command, installCommand } from "./platform.js";

let folder: string;
let project: string;

beforeAll(async () => {
  await installCommand();
  folder = await mkdtemp(join(tmpdir(), "lcp-js-"));
  project = join(folder, "-project");
  await mkdir(join(project, "src"), { recursive: true });
  const token = "ghp_" + "Ab0".repeat(12);
  const files = {
    ".ignore": "ignored.txt\n",
    "ignored.txt": "nothing\n",
    "key.py": `token = "${token}"\n`,
    "src/door.ts": "export const stuck = true;\n".repeat(90),
    "src/hinge.ts": "export function turnTheHinge() {}\n",
  };
  for (const [path, content] of Object.entries(files)) {
    await writeFile(join(project, path), content);
  }
});

afterAll(() => rm(folder, { recursive: true }));

/** Returns the labels of the files that are packed. */
async function labels(options: DirectoryOptions): Promise<string[]> {
  const blocks = await (await packDirectory(project, options)).blocks();
  return blocks.filter(({ type }) => type === "code").map(({ label }) => label);
}

test("the pack has the bytes of the command", async () => {
  const pack = await packDirectory(project);
  const path = join(folder, "project.lcp");
  await promisify(execFile)(command, ["pack", project, "-o", path, "-q"]);
  expect(Buffer.from(pack.toBytes()).equals(await readFile(path))).toBe(true);
  expect(await labels({})).toEqual(["key.py", "src/door.ts", "src/hinge.ts"]);
});

test("options select files and set priorities", async () => {
  expect(await labels({ include: ["src/**"], exclude: ["**/door.ts"] })).toEqual(["src/hinge.ts"]);
  const options = { query: "why does the hinge not turn?", priorities: { "*.py": "low" } } as const;
  const pack = await packDirectory(project, options);
  expect(await pack.render({ budget: 120 })).toContain("function turnTheHinge()");
  const key = (await pack.blocks()).find(({ label }) => label === "key.py");
  expect(key?.priority).toBe("low");
});

test("settings of the current folder do not apply", async () => {
  await writeFile(join(folder, "lcp.toml"), '[pack]\nexclude = ["*.ts"]\n');
  const previous = process.cwd();
  process.chdir(folder);
  try {
    expect(await labels({})).toContain("src/door.ts");
  } finally {
    process.chdir(previous);
  }
});

test("queries have any length and form", async () => {
  for (const query of ["- the hinge", "hinge ".repeat(50_000)]) {
    expect((await (await packDirectory(project, { query })).blocks()).length).toBeGreaterThan(3);
  }
});

test("a pack without a file that cannot be read has a warning", async () => {
  const partial = join(folder, "partial");
  await writeFile(
    partial,
    `#!/bin/sh\n"${command}" "$@"\necho "error: cannot read a.ts" >&2\nexit 1\n`,
    { mode: 0o755 },
  );
  const pack = await packDirectory(project, { command: partial });
  expect(pack.warnings.at(-1)).toBe("cannot read a.ts");
  expect(await pack.blocks()).toHaveLength(5);
});

test("warnings are those of the command", async () => {
  const pack = await packDirectory(project);
  expect(pack.warnings).toHaveLength(1);
  expect(pack.warnings[0]).toMatch(/^replaced a secret: .*key\.py:1: github-token$/);
  expect((await packDirectory(project, { secrets: "off" })).warnings).toEqual([]);
});

test("errors have the class of their exit code", async () => {
  const pack = (options: object, path = project): Promise<unknown> => packDirectory(path, options);
  await expect(pack({}, join(folder, "none"))).rejects.toThrow(UsageError);
  await expect(pack({ priorities: { "*.py": "urgent" } })).rejects.toThrow(/'\*\.py=urgent'/);
  await expect(pack({ include: "src" })).rejects.toThrow("include: expected an array, got string");
  await expect(pack({ command: join(folder, "lcp") })).rejects.toThrow(FileError);
  const large = join(folder, "limit");
  await writeFile(large, '#!/bin/sh\necho "error: too large\nhint: pack less" >&2\nexit 5\n', {
    mode: 0o755,
  });
  const error: unknown = await pack({ command: large }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LimitError);
  expect(error).toMatchObject({ message: "too large", hint: "pack less" });
});

test("a broken link is left out", async () => {
  await symlink(join(folder, "none"), join(project, "link.ts"));
  expect(await labels({})).toEqual(["key.py", "src/door.ts", "src/hinge.ts"]);
});
