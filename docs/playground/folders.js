// Selects the files of a folder to pack. Unlike `lcp pack`, a browser does not read ignore
// files, so folders are left out by their names alone.

const FILE_BYTES_MAX = 1 << 20;
const FILES_MAX = 20_000;
const TOTAL_BYTES_MAX = 64 << 20;

/** Folders of dependencies and caches. These lists are those of `lcp pack` (RFC 0013 §3). */
const UNWANTED = new Set([
  "node_modules",
  "bower_components",
  "jspm_packages",
  "__pycache__",
  "__pypackages__",
  "venv",
  "virtualenv",
  "Pods",
  "DerivedData",
  "elm-stuff",
  "dist-newstyle",
  "site-packages",
]);

/** Names that unwanted folders share with others: a name inside, or a name next to it, decides. */
const UNCERTAIN = new Map([
  [
    "target",
    [
      ["debug", "release", "doc", "classes", "maven-status", ".rustc_info.json"],
      ["Cargo.toml", "pom.xml", "build.sbt"],
    ],
  ],
  [
    "build",
    [
      ["CMakeCache.txt", "build.ninja", "reports"],
      ["build.gradle", "build.gradle.kts"],
    ],
  ],
  ["dist", [[], ["package.json", "pyproject.toml", "setup.py"]]],
  [
    "_build",
    [
      ["dev", "prod", "default"],
      ["mix.exs", "dune-project", "rebar.config"],
    ],
  ],
  ["deps", [[], ["mix.exs"]]],
  ["obj", [["project.assets.json"], []]],
  ["env", [["pyvenv.cfg"], []]],
]);

const MARKERS = ["CACHEDIR.TAG", "pyvenv.cfg"];

const HIDDEN_FOLDERS = new Set([
  ".cargo",
  ".changeset",
  ".circleci",
  ".config",
  ".devcontainer",
  ".github",
  ".gitlab",
  ".husky",
  ".storybook",
  ".vscode",
]);

/** The beginnings of the names of hidden files that describe a project. */
const HIDDEN_FILES = [
  ".babelrc",
  ".browserslistrc",
  ".bumpversion.cfg",
  ".clang-format",
  ".clang-tidy",
  ".clippy",
  ".codecov",
  ".coveragerc",
  ".dockerignore",
  ".editorconfig",
  ".eslintignore",
  ".eslintrc",
  ".flake8",
  ".gitattributes",
  ".gitlab-ci",
  ".gitmodules",
  ".golangci",
  ".goreleaser",
  ".hadolint",
  ".isort.cfg",
  ".jshintrc",
  ".luacheckrc",
  ".markdownlint",
  ".mergify",
  ".mocharc",
  ".node-version",
  ".nvmrc",
  ".nycrc",
  ".postcssrc",
  ".pre-commit",
  ".prettierignore",
  ".prettierrc",
  ".pylintrc",
  ".python-version",
  ".readthedocs",
  ".releaserc",
  ".rspec",
  ".rubocop",
  ".ruby-version",
  ".ruff.toml",
  ".rustfmt",
  ".shellcheckrc",
  ".sqlfluff",
  ".stylelint",
  ".swcrc",
  ".swiftlint",
  ".tool-versions",
  ".travis.yml",
  ".typos",
  ".yamllint",
];

function isHidden(name, isFolder) {
  if (!name.startsWith(".")) return false;
  return !(isFolder ? HIDDEN_FOLDERS.has(name) : HIDDEN_FILES.some((it) => name.startsWith(it)));
}

/** Returns whether a folder has dependencies, caches or build output, by the names in and next to it. */
function isUnwanted(name, inside, siblings) {
  const [inner, outer] = UNCERTAIN.get(name) ?? [[], []];
  return (
    inner.some((it) => inside.has(it)) ||
    outer.some((it) => siblings.has(it)) ||
    MARKERS.some((it) => inside.has(it))
  );
}

/**
 * Returns the files below entries, each with its path, and the names that were left out. An entry has a
 * `name`, and a function `file` or `children`. If `entries` is one folder, the result has its name.
 */
export async function collect(entries) {
  const files = [];
  const leftOut = new Map();
  let bytes = 0;
  const skip = (name) => leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
  const namesOf = (list) => new Set(list.map(({ name }) => name));
  const visit = async (list, prefix) => {
    const names = namesOf(list);
    for (const { name, file, children } of list) {
      const path = prefix + name;
      const isDropped = prefix === "";
      const isCertain = UNWANTED.has(name) || name.endsWith(".egg-info");
      if (!isDropped && (isHidden(name, children !== undefined) || (children && isCertain))) {
        skip(name);
      } else if (children) {
        const inner = await children();
        if (!isDropped && isUnwanted(name, namesOf(inner), names)) skip(name);
        else await visit(inner, `${path}/`);
      } else {
        const content = await file();
        if (prefix !== "" && content.size > FILE_BYTES_MAX) {
          skip("files over 1 MiB");
          continue;
        }
        bytes += content.size;
        files.push({ path, file: content });
        if (files.length > FILES_MAX || bytes > TOTAL_BYTES_MAX) {
          const excess =
            files.length > FILES_MAX
              ? `has more than ${FILES_MAX} files`
              : `exceeds ${TOTAL_BYTES_MAX >> 20} MiB`;
          const error = new Error(`the input ${excess}`);
          error.hint = "choose a smaller folder, or use `lcp pack`, which packs up to 8 GiB";
          throw error;
        }
      }
    }
  };
  await visit(entries, "");
  if (entries.length !== 1 || entries[0].children === undefined) return { files, leftOut };
  // The paths in a pack are relative to the folder.
  const { name } = entries[0];
  return {
    name,
    files: files.map(({ path, file }) => ({
      path: path.slice(name.length + 1),
      file,
    })),
    leftOut,
  };
}

/** Returns the entries of a drop. */
export function ofDrop(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  return entries.map(fromFileSystem);
}

function fromFileSystem(entry) {
  if (entry.isFile) {
    return {
      name: entry.name,
      file: () => new Promise((done, fail) => entry.file(done, fail)),
    };
  }
  const children = async () => {
    const [reader, list] = [entry.createReader(), []];
    for (;;) {
      // Each call returns only some of them.
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (some.length === 0) return list.map(fromFileSystem).sort(byName);
      list.push(...some);
    }
  };
  return { name: entry.name, children };
}

/** Returns the entries of a list of files with paths, as a file picker returns it. */
export function ofPicker(list) {
  const root = new Map();
  for (const file of list) {
    const names = (file.webkitRelativePath || file.name).split("/");
    const last = names.pop();
    let folder = root;
    for (const name of names) {
      if (!folder.has(name)) folder.set(name, new Map());
      folder = folder.get(name);
    }
    folder.set(last, file);
  }
  return fromMap(root);
}

function fromMap(folder) {
  const entries = [...folder].map(([name, value]) =>
    value instanceof Map
      ? { name, children: async () => fromMap(value) }
      : { name, file: async () => value },
  );
  return entries.sort(byName);
}

const byName = (a, b) => (a.name < b.name ? -1 : 1);
