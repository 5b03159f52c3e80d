//! Programs and options that are known by name.
//!
//! A program that is not in the list of those that run nothing counts as one that runs code of the project: a missing
//! entry leads to one warning too many, never to one too few.

/// Commands that cannot run a file of the project: shell builtins and programs that only handle data.
pub(super) const RUNS_NOTHING: [&str; 73] = [
    ":", "[", "[[", "]]", "alias", "base64", "basename", "break", "case", "cat", "cd", "chgrp",
    "chmod", "chown", "cksum", "cmp", "comm", "continue", "cp", "cut", "date", "df", "diff",
    "dirname", "done", "du", "echo", "esac", "exit", "expr", "false", "fi", "fold", "for", "grep",
    "head", "hostname", "id", "in", "kill", "ln", "ls", "mkdir", "mktemp", "mv", "nl", "od",
    "paste", "popd", "printf", "pushd", "pwd", "read", "readlink", "realpath", "return", "rm",
    "rmdir", "seq", "set", "shift", "sleep", "stat", "sync", "tail", "tee", "test", "touch", "tr",
    "true", "umask", "uniq", "wc",
];

/// Words that may precede the actual program.
pub(super) const PREFIXES: [&str; 28] = [
    "!", "{", "}", "builtin", "busybox", "command", "do", "doas", "elif", "else", "env", "exec",
    "if", "ionice", "nice", "nohup", "setsid", "stdbuf", "strace", "sudo", "then", "time",
    "timeout", "unbuffer", "until", "watch", "while", "xargs",
];

/// Programs that read a text of commands.
pub(super) const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

/// Whether a shell is among the words of a command: part of them is a script then.
pub(crate) fn names_a_shell(words: &[String]) -> bool {
    let words = words.iter().flat_map(|word| word.split_whitespace());
    words.filter_map(|word| word.rsplit('/').next()).any(|name| SHELLS.contains(&name))
}

/// Programs that run a script; those of Python are known by how their names begin.
const INTERPRETERS: [&str; 17] = [
    "Rscript", "awk", "bun", "deno", "gawk", "java", "lua", "luajit", "mawk", "node", "nodejs",
    "perl", "php", "ruby", "tclsh", "ts-node", "tsx",
];

/// Options of interpreters whose value is loaded.
pub(super) const LOADS: [&str; 9] = [
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--env-file",
    "--rcfile",
    "--init-file",
    "-f",
];
/// Options of interpreters whose value is a text of code.
pub(super) const TEXTS: [&str; 6] = ["-c", "-e", "-p", "-E", "--eval", "--print"];

/// Extensions that a loader tries after a module name.
pub(super) const LOADED_AS: [&str; 16] = [
    ".js",
    ".cjs",
    ".mjs",
    ".ts",
    ".json",
    ".py",
    ".rb",
    ".pl",
    ".pm",
    ".sh",
    ".so",
    "/index.js",
    "/index.mjs",
    "/package.json",
    "/__init__.py",
    "/__main__.py",
];

/// Programs that read files of their own accord, and those files.
pub(super) const READ_UNASKED: [(&str, &[&str]); 53] = [
    ("ant", &["build.xml"]),
    ("bazel", &["MODULE.bazel", "WORKSPACE", "BUILD", "BUILD.bazel", ".bazelrc"]),
    ("bmake", &["Makefile", "makefile"]),
    ("bundle", &["Gemfile", "Rakefile"]),
    ("bun", PACKAGE),
    ("cargo", &["build.rs", ".cargo/config.toml", ".cargo/config"]),
    ("claude", &[".claude/settings.json", ".claude/settings.local.json", ".mcp.json"]),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json"]),
    ("codex", &[".codex/config.toml"]),
    ("composer", &["composer.json"]),
    ("deno", &["deno.json", "deno.jsonc", "package.json"]),
    ("direnv", &[".envrc"]),
    ("docker", COMPOSE),
    ("docker-compose", COMPOSE),
    ("dotnet", &["Directory.Build.props", "Directory.Build.targets", "global.json"]),
    (
        "eslint",
        &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            ".eslintrc.js",
            ".eslintrc.cjs",
        ],
    ),
    ("gemini", &[".gemini/settings.json"]),
    ("git", &[".gitmodules"]),
    ("gmake", MAKEFILE),
    ("go", &["go.mod", "go.work"]),
    ("gradle", GRADLE),
    ("gradlew", GRADLE),
    ("gulp", &["gulpfile.js", "gulpfile.mjs"]),
    ("jest", &["jest.config.js", "jest.config.ts", "jest.config.mjs", "package.json"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("make", MAKEFILE),
    ("meson", &["meson.build"]),
    ("mix", &["mix.exs"]),
    ("mvn", MAVEN),
    ("mvnw", MAVEN),
    ("ninja", &["build.ninja"]),
    ("nox", &["noxfile.py"]),
    ("npm", PACKAGE),
    ("npx", PACKAGE),
    ("pdm", &["pyproject.toml"]),
    ("pi", &[".pi/settings.json"]),
    ("pip", &["setup.py", "pyproject.toml", "setup.cfg"]),
    ("pip3", &["setup.py", "pyproject.toml", "setup.cfg"]),
    ("pnpm", PACKAGE),
    ("podman", COMPOSE),
    ("poetry", &["pyproject.toml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("py.test", PYTEST),
    ("pytest", PYTEST),
    ("rake", &["Rakefile", "rakefile"]),
    ("sbt", &["build.sbt"]),
    ("scons", &["SConstruct"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("tox", &["tox.ini", "pyproject.toml", "setup.cfg"]),
    ("uv", &["pyproject.toml", "uv.toml"]),
    ("vitest", &["vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"]),
    ("yarn", &["package.json", ".yarnrc.yml", ".yarnrc"]),
    ("zig", &["build.zig"]),
];

const MAKEFILE: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const PACKAGE: &[&str] = &["package.json", ".npmrc"];
const COMPOSE: &[&str] =
    &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile"];
const GRADLE: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradle/wrapper/gradle-wrapper.properties",
    "gradle/wrapper/gradle-wrapper.jar",
];
const MAVEN: &[&str] = &["pom.xml", ".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"];
const PYTEST: &[&str] = &[
    "conftest.py",
    "tests/conftest.py",
    "test/conftest.py",
    "pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
];

/// Whether a program of this name runs what its words or files of its own accord say.
pub(super) fn is_known(name: &str) -> bool {
    SHELLS.contains(&name)
        || is_interpreter(name)
        || READ_UNASKED.iter().any(|(known, _)| *known == name)
}

/// Whether a program of this name runs what it reads where it has no words.
pub(super) fn reads_text(name: &str) -> bool {
    SHELLS.contains(&name) || is_interpreter(name)
}

pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&name) || is_python(name)
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|it| it.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The module that these words of an interpreter name: `-m pkg`, `-mpkg`.
pub(super) fn module<'w>(name: &str, word: &'w str, next: Option<&'w String>) -> Option<&'w str> {
    let module = word.strip_prefix("-m").filter(|_| is_python(name))?;
    if module.is_empty() { next.map(String::as_str) } else { Some(module) }
}

/// Whether a word tells the interpreter what to do with the next one.
pub(super) fn runs_by_word(name: &str, word: &str) -> bool {
    matches!(name, "bun" | "deno") && matches!(word, "run" | "test" | "x" | "task" | "eval")
}

/// Whether a parameter of this name holds a command.
pub(super) fn is_for_commands(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = ["command", "commands", "cmd", "exec", "run", "shell", "program", "hook"];
    ends.iter().any(|end| name.ends_with(end))
}

/// Whether a variable of this name lists folders.
pub(super) fn is_path(name: &str) -> bool {
    name.ends_with("PATH") || name.ends_with("LIB")
}
