// Packs a folder with the command at a path.

import { packDirectory } from "llm-context-pack/node";

const [folder, command] = globalThis.process.argv.slice(2);
const pack = await packDirectory(folder, { command });
console.log((await pack.blocks()).map(({ label }) => label).join("\n"));
