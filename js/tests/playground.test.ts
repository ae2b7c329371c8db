import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Pack } from "llm-context-pack";
import type { RenderOptions } from "llm-context-pack";
import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launch, leftOut, serve } from "./browser.js";

const docs = join(process.env["LCP_REPOSITORY"] ?? join(import.meta.dirname, "../.."), "docs");

const PROJECT = {
  "README.md": "# Doors\n\nDoors turn on hinges.\n",
  "src/hinge.py": "def turn_the_hinge():\n    return True\n",
  "src/sail.py": "def sail(ship):\n    return ship.wind * 2\n\n\n".repeat(200),
  "src/constructor/sail.py": "SAIL = 1\n",
  "src/build/table.py": "LEGS = 4\n".repeat(300),
};

/** Files that are not packed. */
const UNWANTED = {
  ".git/config": "[core]\n",
  ".env": "PASSWORD=1\n",
  "node_modules/left/index.js": "left();\n",
  "package.json": undefined,
  "dist/index.js": "built();\n",
  "large.txt": "x\n".repeat(600_000),
};

describe.skipIf(leftOut.includes("chromium"))("the playground", { timeout: 120_000 }, () => {
  let browser: Browser;
  let server: ReturnType<typeof serve>;
  let other: ReturnType<typeof serve>;
  let otherRequests = 0;
  let folder: string;
  let page: Page;
  let frame: Frame;
  let addresses: string[];

  beforeAll(async () => {
    // The part of the front page that embeds the playground, without the theme of mdBook.
    const front = await readFile(join(docs, "README.md"), "utf8");
    const embedded = front.match(/^<object .*?^<\/object>$/ms)?.[0];
    const guide = `<!doctype html><html class="navy" style="--bg: #161923"><body>${embedded}</body></html>`;
    server = serve(async (path) => (path === "/" ? guide : await readFile(join(docs, path))));
    other = serve(async () => `${(otherRequests += 1)}`);
    folder = await mkdtemp(join(tmpdir(), "playground-"));
    for (const [path, content] of Object.entries({ ...PROJECT, ...UNWANTED })) {
      await mkdir(dirname(join(folder, "door", path)), { recursive: true });
      await writeFile(join(folder, "door", path), content ?? "{}\n");
    }
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    other?.close();
    await rm(folder, { recursive: true });
  });

  beforeEach(async () => {
    addresses = [];
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on("request", (request) => addresses.push(request.url()));
    await page.goto(server.address);
    await page.waitForFunction(() => document.querySelector("object")?.contentDocument?.body);
    frame = page.frames()[1] as Frame;
    await idle();
    return () => page.close();
  });

  /** Waits until nothing is read or rendered. */
  async function idle(): Promise<void> {
    await frame.waitForSelector('#result[aria-busy="false"]', { state: "attached" });
  }

  const text = async (id: string): Promise<string> => (await frame.textContent(`#${id}`)) ?? "";

  /** Checks that the page shows what the package returns. */
  async function expectPage(pack: Pack, options: RenderOptions): Promise<void> {
    const rendered = await pack.renderWithReport({
      mode: "xml",
      encoding: "o200k_base",
      ...options,
    });
    expect(await text("text")).toBe(rendered.text);
    const { used_tokens: used } = rendered.report as { used_tokens: number };
    expect(await text("used")).toBe(used.toLocaleString("en"));
    const blocks = rendered.report["blocks"] as Record<string, string | number>[];
    const shown = blocks.filter(({ decision }) => decision !== "metadata");
    const rows = frame.locator("#rows tr");
    expect(await rows.locator(".label").allTextContents()).toEqual(shown.map(({ label }) => label));
    const isFull = shown.filter(({ decision }) => decision === "full").length;
    expect(await rows.locator('[data-group="full"]').count()).toBe(isFull);
  }

  const files = Object.entries({ ...PROJECT, "package.json": "{}\n" }).map(([path, content]) => ({
    path,
    content,
  }));

  test("begins with a sample, in the theme of the guide", async () => {
    const sample = await readFile(join(docs, "../samples/session.lcp"));
    await expectPage(await Pack.fromBytes(sample), { budget: 8_000 });
    expect(await frame.getAttribute("html", "data-theme")).toBe("dark");
    const height = await frame.evaluate(() => document.body.offsetHeight);
    expect((await page.locator("object").boundingBox())?.height).toBe(height);
    await page.evaluate(() => (document.documentElement.className = "rust"));
    await frame.waitForSelector('html[data-theme="light"]');
  });

  test("renders a dropped folder for each budget, question, tokenizer and format", async () => {
    const { x, y } = (await page.locator("object").boundingBox()) as { x: number; y: number };
    const protocol = await page.context().newCDPSession(page);
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      const data = { items: [], files: [join(folder, "door")], dragOperationsMask: 1 };
      await protocol.send("Input.dispatchDragEvent", { type, x: x + 200, y: y + 100, data });
    }
    await frame.waitForFunction(() =>
      document.querySelector("#source")?.textContent?.startsWith("door"),
    );
    await idle();
    expect(await text("source")).toContain("door: 6 files");
    expect(await text("skipped")).toBe("Skipped: .env, .git, dist, files over 1 MiB, node_modules");
    await expectPage(await Pack.fromFiles(files), { budget: 8_000 });

    await frame.fill("#query", "why does the hinge not turn?");
    await idle();
    const pack = await Pack.fromFiles(files, { query: "why does the hinge not turn?" });
    const least = 50;
    await frame.focus("#slider");
    await page.keyboard.press("Home");
    await idle();
    expect(await frame.inputValue("#budget")).toBe(`${least}`);
    await expectPage(pack, { budget: least });
    for (let at = 0; at < 300; at += 1) {
      await page.keyboard.press("ArrowRight");
    }
    await idle();
    const budget = Number(await frame.inputValue("#budget"));
    expect(budget).toBeGreaterThan(100);
    expect(budget).toBeLessThan(500);
    await expectPage(pack, { budget });
    expect(await text("text")).toContain("def turn_the_hinge():");

    await frame.selectOption("#mode", "markdown");
    await frame.selectOption("#encoding", "claude");
    await idle();
    await expectPage(pack, { budget, mode: "markdown", encoding: "claude" });
    expect(await text("used-of")).toContain("estimated (claude)");

    await frame.click("#filters button:has-text('Omitted')");
    expect(await frame.locator('#rows tr:not(:has([data-group="omitted"]))').count()).toBe(0);
  });

  test("packs a chosen folder like a dropped one", async () => {
    await frame.setInputFiles("#folder", join(folder, "door"));
    await frame.waitForFunction(() =>
      document.querySelector("#source")?.textContent?.startsWith("door"),
    );
    await idle();
    await expectPage(await Pack.fromFiles(files), { budget: 8_000 });
  });

  test("renders transcripts, and shows errors with their remedy", async () => {
    const system = { role: "system", content: "Answer briefly. ".repeat(20) };
    const turns = Array.from({ length: 21 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: `Words of turn ${at}. `.repeat(20),
    }));
    const transcript = JSON.stringify([system, ...turns]);
    await frame.click("#paste");
    await frame.fill("#transcript", transcript);
    await frame.fill("#budget", "500");
    await idle();
    const pack = await Pack.fromTranscript(transcript);
    await expectPage(pack, { budget: 500 });
    expect(await text("text")).toContain("Words of turn 20.");

    await frame.fill("#budget", "20");
    await idle();
    expect(await text("error")).toMatch(/needs \d+ tokens.*raise the budget/);
    await frame.fill("#budget", "-1");
    await idle();
    expect(await text("error")).toContain("budget: expected a number of tokens from 0");
    await frame.fill("#transcript", '[{"role": ');
    await idle();
    expect(await text("error")).toContain("line 1");
    await frame.fill("#transcript", transcript);
    await frame.fill("#budget", "500");
    await idle();
    expect(await frame.isVisible("#error")).toBe(false);
    await expectPage(pack, { budget: 500 });
  });

  test("requests nothing from elsewhere", async () => {
    await frame.click("#sample-code");
    await idle();
    expect(await text("text")).toContain("vocabular");
    expect(addresses.length).toBeGreaterThan(10);
    const isOwn = (address: string): boolean =>
      address.replace(/^blob:/, "").startsWith(server.address);
    expect(addresses.filter((address) => !isOwn(address))).toEqual([]);
    const send = (address: string): Promise<string> =>
      fetch(address, { mode: "no-cors" }).then(
        () => "sent",
        () => "refused",
      );
    const [worker] = page.workers();
    expect(await worker?.evaluate(send, other.address)).toBe("refused");
    expect(await frame.evaluate(send, other.address)).toBe("refused");
    expect(otherRequests).toBe(0);
  });

  test("has the module of the package", async () => {
    const manifest = createRequire(import.meta.url).resolve("llm-context-pack/package.json");
    const wasm = await readFile(join(dirname(manifest), "dist/wasm/lcp_bg.wasm"));
    expect(wasm.equals(await readFile(join(docs, "playground/lcp/wasm/lcp_bg.wasm")))).toBe(true);
  });
});
