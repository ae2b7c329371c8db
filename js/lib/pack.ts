import {
  checkOptions,
  checkText,
  checkTexts,
  checkTokens,
  toJsonTexts,
  wrongType,
} from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import { UsageError } from "./errors.js";
import type { MessageFormat } from "./messages.js";
import { call, load } from "./module.js";
import * as native from "./wasm/lcp.js";

/** A file that is in memory. */
export interface PackFile {
  /** The path that the file has in the pack. Its ending decides the type. */
  path: string;
  /** The text, or the bytes in any character set. */
  content: string | Uint8Array;
}

/** The options of {@link Pack.fromFiles}, and of `packDirectory`. */
export interface PackOptions {
  /** A question. The files that it needs come first. */
  query?: string | undefined;
  /** Paths and symbols that certainly belong to the answer. */
  mentions?: readonly string[] | undefined;
  /** The priorities of the files that match a glob, such as `{ "src/**": "high" }`. */
  priorities?: Readonly<Record<string, Priority>> | undefined;
  /** The duplicates that are removed. By default, none. */
  dedup?: DedupLevel | undefined;
  /** The treatment of secrets. By default, they are redacted. */
  secrets?: SecretPolicy | undefined;
}

/**
 * The treatments of secrets: `redact` replaces them by markers; `exclude` leaves out their files; `warn`
 * lists them; `off` does not search for them.
 */
export type SecretPolicy = "redact" | "exclude" | "warn" | "off";

/** The priorities of blocks. Within a budget, low ones are shortened first. */
export type Priority = "critical" | "high" | "normal" | "low" | "background";

/** `exact` removes equal blocks, `overlap` also equal parts of blocks, `near` also similar blocks. */
export type DedupLevel = "off" | "exact" | "overlap" | "near";

/** A block of a pack. */
export interface Block {
  /** The index in the pack. */
  index: number;
  /** The type, such as `code` or `conversation`. */
  type: string;
  /** The label: a path, a title or the name of a tool. It can be empty. */
  label: string;
  /** The priority, or `null` for metadata. */
  priority: Priority | null;
  /** The tokens of the content, or `null` for metadata. */
  tokens: number | null;
  /** The content: text, or the bytes of an image or of other data. */
  content: string | Uint8Array;
}

/** A block as an entry of a manifest. `toManifest` returns the entries of a pack. */
export interface ManifestBlock {
  /** The type, such as `code` or `tool_result`. */
  type: string;
  /** The text. */
  content?: string;
  /** The priority. By default, `normal`. */
  priority?: Priority;
  /** The short form of a block that does not fit. */
  summary?: string;
  /**
   * The other fields: `tags`, `content_base64` for bytes, and those of the type, such as the `path` of
   * code, or the `data` of an image in base64.
   */
  [field: string]: unknown;
}

/** The formats of transcripts: of chat APIs, of agents, results of MCP tools, and Markdown. */
export type TranscriptFormat =
  | MessageFormat
  | "claude-code"
  | "codex"
  | "gemini-cli"
  | "opencode"
  | "mcp"
  | "markdown";

/** The formats of rendered text. */
export type RenderMode = "xml" | "markdown" | "minimal";

/** The options of {@link Pack.render}. */
export interface RenderOptions extends TokenizerOptions {
  /** The maximum number of tokens. The default is the window of the `model`; without a model, all blocks
   * are shown in full. */
  budget?: number | undefined;
  /** The format of the text. The default is `xml`. */
  mode?: RenderMode | undefined;
  /** The division of the budget among categories. */
  shares?:
    | "conversation"
    | "agent"
    | "code-focused"
    | "preference-focused"
    | "session-focused"
    | undefined;
  /** The duplicates that are removed. By default, none. */
  dedup?: DedupLevel | undefined;
}

/** A text with the report of its plan. */
export interface RenderedText {
  /** The text. */
  text: string;
  /** The decision for each block, and its reason (`lcp.render-report.v1`). */
  report: Readonly<Record<string, unknown>>;
}

/** A pack: typed blocks of source files, messages, tool results and documents. */
export class Pack {
  readonly #bytes: Uint8Array;

  /** The warnings of packing, such as about replaced secrets and files that were left out. */
  readonly warnings: readonly string[];

  private constructor(bytes: Uint8Array, warnings: readonly string[]) {
    this.#bytes = bytes;
    this.warnings = warnings;
  }

  /** Reads a pack. */
  static async fromBytes(bytes: Uint8Array): Promise<Pack> {
    if (!(bytes instanceof Uint8Array)) {
      wrongType("bytes", "a Uint8Array", bytes);
    }
    await load();
    call(() => native.checkPack(bytes));
    return new Pack(bytes.slice(), []);
  }

  /** Creates a pack from the output of the command. @internal */
  static fromCommand(bytes: Uint8Array, warnings: readonly string[]): Pack {
    return new Pack(bytes, warnings);
  }

  /**
   * Packs files that are in memory. With a query, those that it needs come first.
   *
   * @example
   * const pack = await Pack.fromFiles([{ path: "src/main.ts", content: "run();\n" }]);
   */
  static async fromFiles(files: readonly PackFile[], options: PackOptions = {}): Promise<Pack> {
    if (!Array.isArray(files)) {
      wrongType("files", "an array", files);
    }
    if (files.length === 0) {
      throw new UsageError("files: the list is empty");
    }
    const { priorities, mentions } = checkPackOptions(options);
    await load();
    const list = call(() => new native.PackFiles());
    try {
      for (const [glob, priority] of priorities) {
        call(() => list.addPriority(glob, priority));
      }
      files.forEach((file, at) => {
        checkText(`files[${at}].path`, file?.path);
        const bytes = toBytes(`files[${at}].content`, file.content);
        call(() => list.add(file.path, bytes));
      });
      const { query, dedup, secrets } = options;
      const bytes = call(() => list.pack(query, mentions, dedup, secrets));
      return new Pack(bytes, list.warnings);
    } finally {
      list.free();
    }
  }

  /**
   * Packs a transcript: messages, or the session of an agent. Within a budget, the newest messages are
   * kept first. The format is detected unless you pass one. Secrets are redacted by default, as
   * `fromFiles` does. A transcript has no files to leave out, so `exclude` only warns.
   *
   * @example
   * const pack = await Pack.fromTranscript(await readFile("session.jsonl", "utf8"));
   */
  static async fromTranscript(
    transcript: string | Uint8Array,
    options: { format?: TranscriptFormat | undefined; secrets?: SecretPolicy | undefined } = {},
  ): Promise<Pack> {
    const text = toBytes("transcript", transcript);
    checkOptions(options, "format", "secrets");
    const { format, secrets } = options;
    await load();
    const packed = call(() => native.packTranscript(text, format, secrets));
    const { bytes, warnings } = packed;
    packed.free();
    return new Pack(bytes, warnings);
  }

  /**
   * Packs blocks: source code, messages, tool results, documents, diffs.
   *
   * @example
   * const pack = await Pack.fromBlocks([{ type: "code", path: "main.ts", content: "run();\n" }]);
   */
  static async fromBlocks(blocks: readonly ManifestBlock[]): Promise<Pack> {
    const manifest = `{"blocks":[${toJsonTexts("blocks", blocks).join(",")}]}`;
    await load();
    return new Pack(
      call(() => native.packManifest(manifest)),
      [],
    );
  }

  /** Returns the blocks, with the tokens of their contents. */
  async blocks(options: TokenizerOptions = {}): Promise<Block[]> {
    checkOptions(options, "model", "encoding");
    const { model, encoding } = options;
    await load({ encoding, model });
    const blocks = call(() => native.blocks(this.#bytes, model, encoding));
    return blocks.map((block, index) => {
      const { type, label, priority, tokens, text, bytes } = block;
      block.free();
      return {
        index,
        type,
        label,
        priority: (priority as Priority | undefined) ?? null,
        tokens: tokens ?? null,
        content: text ?? bytes ?? "",
      };
    });
  }

  /** Renders the blocks as text within a budget, or in full without one. */
  async render(options: RenderOptions = {}): Promise<string> {
    return (await this.renderWithReport(options)).text;
  }

  /** Renders the blocks, and reports the decision for each of them. */
  async renderWithReport(options: RenderOptions = {}): Promise<RenderedText> {
    checkOptions(options, "mode", "model", "encoding", "shares", "dedup");
    const { budget, mode = "xml", model, encoding, shares, dedup } = options;
    if (budget !== undefined) {
      checkTokens("budget", budget, 0);
    }
    await load({ encoding, model });
    const rendered = call(() =>
      native.render(this.#bytes, budget, mode, model, encoding, shares, dedup),
    );
    try {
      const report = JSON.parse(rendered.report) as Record<string, unknown>;
      return { text: rendered.text, report };
    } finally {
      rendered.free();
    }
  }

  /** Returns the blocks as entries of a manifest, for `fromBlocks`. */
  async toManifest(): Promise<ManifestBlock[]> {
    await load();
    const manifest = call(() => native.manifest(this.#bytes));
    return (JSON.parse(manifest) as { blocks: ManifestBlock[] }).blocks;
  }

  /** Returns the bytes of the pack. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }
}

/** Checks the options of a pack. Returns the mentions, and the priorities as pairs of glob and level. */
export function checkPackOptions(options: PackOptions): {
  mentions: string[];
  priorities: [string, string][];
} {
  checkOptions(options, "query", "dedup", "secrets");
  const priorities: unknown = options.priorities ?? {};
  if (typeof priorities !== "object" || Symbol.iterator in (priorities as object)) {
    wrongType("priorities", "an object", priorities);
  }
  const entries = Object.entries(priorities as object);
  for (const [glob, priority] of entries) {
    const name = `priorities[${JSON.stringify(glob)}]`;
    checkText(name, glob);
    checkText(name, priority);
  }
  return { mentions: checkTexts("mentions", options.mentions ?? []), priorities: entries };
}

const encoder = new TextEncoder();

function toBytes(name: string, content: unknown): Uint8Array {
  if (content instanceof Uint8Array) {
    return content;
  }
  checkText(name, content);
  return encoder.encode(content);
}
