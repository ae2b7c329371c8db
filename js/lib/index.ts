/**
 * Exact token counts, message histories within a budget, and context packs.
 *
 * @module
 */

export type { TokenizerOptions } from "./arguments.js";
export { Encoding, count, countBatch } from "./encoding.js";
export {
  FileError,
  LcpError,
  LimitError,
  MalformedError,
  OverBudgetError,
  SessionError,
  UsageError,
} from "./errors.js";
export { FitReport, fitMessages } from "./messages.js";
export type { FitOptions, FitResult, MessageFormat } from "./messages.js";
export { init } from "./module.js";
export type { InitOptions } from "./module.js";
export { Pack } from "./pack.js";
export type {
  Block,
  DedupLevel,
  ManifestBlock,
  PackFile,
  PackOptions,
  Priority,
  RenderMode,
  RenderOptions,
  RenderedText,
  SecretPolicy,
  TranscriptFormat,
} from "./pack.js";
