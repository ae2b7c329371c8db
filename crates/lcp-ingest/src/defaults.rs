//! Folders that are left out of a pack, and hidden files that describe a project (RFC 0013 §3).

use std::path::Path;

/// Folders of version control. They are left out even if hidden and ignored files are packed.
const VCS_DIRS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Folders that hold dependencies, caches, virtual environments or the output of a build, by name.
const UNWANTED_DIRS: &[&str] = &[
    "node_modules", "bower_components", "jspm_packages", "__pycache__", "__pypackages__", "venv",
    "virtualenv", "Pods", "DerivedData", "elm-stuff", "dist-newstyle", "site-packages",
];

/// Names that unwanted folders share with folders of source code. An unwanted folder contains one
/// of the first files or folders, or is next to one of the second.
const UNCERTAIN_DIRS: &[(&str, &[&str], &[&str])] = &[
    (
        "target",
        &["debug", "release", "doc", "classes", "maven-status", ".rustc_info.json"],
        &["Cargo.toml", "pom.xml", "build.sbt"],
    ),
    ("build", &["CMakeCache.txt", "build.ninja", "reports"], &["build.gradle", "build.gradle.kts"]),
    ("dist", &[], &["package.json", "pyproject.toml", "setup.py"]),
    ("_build", &["dev", "prod", "default"], &["mix.exs", "dune-project", "rebar.config"]),
    ("deps", &[], &["mix.exs"]),
    ("obj", &["project.assets.json"], &[]),
    ("env", &["pyvenv.cfg"], &[]),
];

/// Files that mark the folder that contains them as unwanted: a cache or a virtual environment.
const MARKERS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Hidden folders that describe a project.
const PROJECT_DIRS: &[&str] = &[
    ".cargo", ".changeset", ".circleci", ".config", ".devcontainer", ".github", ".gitlab",
    ".husky", ".storybook", ".vscode",
];

/// Hidden files that describe a project: the beginnings of their names.
const PROJECT_FILES: &[&str] = &[
    ".babelrc", ".browserslistrc", ".bumpversion.cfg", ".clang-format", ".clang-tidy", ".clippy",
    ".codecov", ".coveragerc", ".dockerignore", ".editorconfig", ".eslintignore", ".eslintrc",
    ".flake8", ".gitattributes", ".gitlab-ci", ".gitmodules", ".golangci", ".goreleaser",
    ".hadolint", ".isort.cfg", ".jshintrc", ".luacheckrc", ".markdownlint", ".mergify", ".mocharc",
    ".node-version", ".nvmrc", ".nycrc", ".postcssrc", ".pre-commit", ".prettierignore",
    ".prettierrc", ".pylintrc", ".python-version", ".readthedocs", ".releaserc", ".rspec",
    ".rubocop", ".ruby-version", ".ruff.toml", ".rustfmt", ".shellcheckrc", ".sqlfluff",
    ".stylelint", ".swcrc", ".swiftlint", ".tool-versions", ".travis.yml", ".typos", ".yamllint",
];

/// Returns whether a name belongs to a folder of version control.
pub(crate) fn is_vcs(name: &str) -> bool {
    VCS_DIRS.contains(&name)
}

/// Returns whether a folder holds dependencies, caches or build output, which can be made again.
pub(crate) fn is_unwanted_dir(folder: &Path) -> bool {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };
    let has = |names: &[&str], at: &Path| names.iter().any(|name| at.join(name).exists());
    let is_certain = || {
        let row = UNCERTAIN_DIRS.iter().find(|(dir, ..)| *dir == name);
        row.is_some_and(|(_, children, siblings)| {
            has(children, folder) || folder.parent().is_some_and(|parent| has(siblings, parent))
        })
    };
    UNWANTED_DIRS.contains(&name)
        || name.ends_with(".egg-info")
        || is_certain()
        || has(&MARKERS, folder)
}

/// Returns whether a name is hidden and does not belong to a file or folder that describes a
/// project.
pub(crate) fn is_hidden(name: &str, is_folder: bool) -> bool {
    if !name.starts_with('.') {
        return false;
    }
    let describes_project = if is_folder {
        PROJECT_DIRS.contains(&name)
    } else {
        PROJECT_FILES.iter().any(|file| name.starts_with(file))
    };
    !describes_project
}

/// Returns whether a name belongs to a file with settings of an environment, which often has
/// passwords.
pub(crate) fn is_environment(name: &str) -> bool {
    name == ".env" || name.starts_with(".env.") || name == ".envrc"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_files_are_not_hidden() {
        for name in [".github", ".cargo", ".devcontainer"] {
            assert!(!is_hidden(name, true), "{name}");
        }
        for name in [".gitlab-ci.yml", ".editorconfig", ".eslintrc.json", "a.rs"] {
            assert!(!is_hidden(name, false), "{name}");
        }
        for name in [".env", ".env.local", ".DS_Store", ".npmrc", ".netrc"] {
            assert!(is_hidden(name, false), "{name}");
        }
        assert!(is_hidden(".idea", true) && is_hidden(".venv", true));
        assert!(is_environment(".env.local") && !is_environment(".environment"));
    }

    #[test]
    fn uncertain_folder_needs_a_marker() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["target", "build", "cache", "node_modules"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let unwanted = || {
            let names = ["target", "build", "cache", "node_modules"];
            names.into_iter().filter(|name| is_unwanted_dir(&at(name))).collect::<Vec<_>>()
        };
        assert_eq!(unwanted(), ["node_modules"]);
        std::fs::write(at("Cargo.toml"), "").unwrap();
        std::fs::write(at("build/CMakeCache.txt"), "").unwrap();
        std::fs::write(at("cache/CACHEDIR.TAG"), "").unwrap();
        assert_eq!(unwanted(), ["target", "build", "cache", "node_modules"]);
    }

    #[test]
    fn playground_leaves_out_the_same_names() {
        let page = include_str!("../../../docs/playground/folders.js");
        let uncertain = UNCERTAIN_DIRS.iter().flat_map(|(name, inside, outside)| {
            std::iter::once(name).chain(*inside).chain(*outside)
        });
        let all = UNWANTED_DIRS.iter().chain(PROJECT_DIRS).chain(PROJECT_FILES).chain(&MARKERS);
        for name in all.chain(uncertain) {
            assert!(page.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
