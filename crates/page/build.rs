//! Builds the page with Node, if Node is installed, and lists its files for the program.
//!
//! It runs again only when the page's sources have changed. Without Node or without the page's dependencies the
//! program gets a plain page, which says what is missing. `MATERIA_PAGE=plain` asks for that; `MATERIA_PAGE=FOLDER`
//! takes a page that was built elsewhere.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Sources of the page, in `ui`.
const SOURCES: [&str; 6] =
    ["src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts"];

/// Installs what the lock file names and leaves that file as it is. `npm ci` would be stricter, but it refuses a lock
/// file without the packages of other systems, and a registry need not have those.
const INSTALL: [&str; 5] = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let ui = here.join("../../ui");
    println!("cargo::rerun-if-env-changed=MATERIA_PAGE");
    // The page completes fields from it.
    println!("cargo::rerun-if-changed={}", here.join("../../schemas/config.schema.json").display());
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", ui.join(source).display());
    }
    let made = match env::var("MATERIA_PAGE") {
        Ok(wish) if wish == "plain" => Err("MATERIA_PAGE asks for the plain one".to_owned()),
        Ok(folder) => Ok(PathBuf::from(folder)),
        Err(_) => make(&ui, &out.join("page")),
    };
    let (files, missing) = match made {
        Ok(folder) => (list(&folder)?, None),
        Err(why) => {
            println!("cargo::warning=the page is not built in: {why}");
            (Vec::new(), Some(why))
        }
    };
    fs::write(out.join("page.rs"), table(&files, missing.as_deref())?)?;
    Ok(())
}

/// Makes the page in a folder of the build.
fn make(ui: &Path, into: &Path) -> Result<PathBuf, String> {
    if !ui.join("index.html").is_file() {
        return Err("its sources (`ui`) are not here".to_owned());
    }
    if !works("node", &["--version"], ui) {
        return Err(
            "there is no Node.js; install version 20.19 or newer and build again".to_owned()
        );
    }
    let vite = ui.join("node_modules/vite/bin/vite.js");
    if !(is_installed(ui) || works("npm", &INSTALL, ui)) || !vite.is_file() {
        let why = "what it is made with cannot be installed; run `npm install --no-save` in `ui` to see why";
        return Err(why.to_owned());
    }
    let (vite, folder) = (vite.display().to_string(), into.display().to_string());
    if works("node", &[&vite, "build", "--emptyOutDir", "--outDir", &folder], ui) {
        Ok(into.to_owned())
    } else {
        Err("`npm run build` failed in `ui`; run it there to see why".to_owned())
    }
}

/// Whether what the lock file names was installed after it was last changed. `npm` writes its own note last.
fn is_installed(ui: &Path) -> bool {
    let changed = |name: &str| fs::metadata(ui.join(name)).and_then(|found| found.modified());
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Ok(installed), Ok(wanted)) => installed >= wanted,
        _ => false,
    }
}

fn works(program: &str, words: &[&str], folder: &Path) -> bool {
    let ended = Command::new(program).args(words).current_dir(folder).output();
    ended.is_ok_and(|ended| ended.status.success())
}

/// The files of a folder, by their path from there, in order.
fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
                found.push((format!("/{name}"), fs::canonicalize(&path)?));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn table(files: &[(String, PathBuf)], missing: Option<&str>) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    writeln!(text, "const BUILT: &[File] = &[")?;
    for (name, path) in files {
        let name = if name == "/index.html" { "/" } else { name };
        let path = path.to_string_lossy();
        writeln!(text, "    File {{ path: {name:?}, bytes: include_bytes!({path:?}) }},")?;
    }
    writeln!(text, "];")?;
    writeln!(
        text,
        "/// Why only the plain page is here, if so.\npub const MISSING: Option<&str> = {missing:?};"
    )?;
    Ok(text)
}
