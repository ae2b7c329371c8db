// Prints the results, for runtimes that start programs.

import { check } from "./check.mjs";

console.log(JSON.stringify(await check()));
