// Compiles a Kaitai Struct description to Python, in the folder of this process:
// node compile.cjs DESCRIPTION
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

const load = createRequire(path.join(process.cwd(), "any.js"));
const yaml = load("js-yaml");
const compiler = load("kaitai-struct-compiler");

const description = yaml.load(fs.readFileSync(process.argv[2], "utf8"));
const imports = { importYaml: (name) => Promise.reject(new Error(`it imports ${name}`)) };
compiler
  .compile("python", description, imports, false)
  .then((files) => {
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(name, text);
  })
  .catch((error) => {
    console.error(error.message || error);
    process.exit(1);
  });
