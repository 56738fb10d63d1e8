//! Embeds the site: the style sheets as one file, everything in `public/`, and the browser's half
//! (JS and WASM) where it has been built. Each file gets its hash into its name and is
//! compressed here, once, so that the server only ever copies bytes.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let site =
        env::var_os("REDRIVE_SITE").map_or_else(|| root.join("target/site/pkg"), PathBuf::from);
    println!("cargo::rerun-if-env-changed=REDRIVE_SITE");

    let mut files = vec![("redrive.css".to_owned(), style_sheet(&root.join("style"))?)];
    for folder in [root.join("public"), site] {
        println!("cargo::rerun-if-changed={}", folder.display());
        for path in listing(&folder)? {
            let name = path
                .file_name()
                .and_then(OsStr::to_str)
                .unwrap_or_default()
                .to_owned();
            files.push((name, fs::read(&path)?));
        }
    }

    let mut table = String::from("&[\n");
    for (name, bytes) in files {
        let hashed = hashed_name(&name, &bytes);
        let put = |extension: &str, bytes: &[u8]| -> io::Result<String> {
            let path = out.join(format!("{hashed}{extension}"));
            fs::write(&path, bytes)?;
            Ok(format!("include_bytes!({:?})", path.display().to_string()))
        };
        let plain = put("", &bytes)?;
        let br = put(".br", &brotli(&bytes)?)?;
        let gz = put(".gz", &gzip(&bytes)?)?;
        let _ = writeln!(
            table,
            "Asset {{ name: {name:?}, hashed: {hashed:?}, plain: {plain}, br: {br}, gz: {gz} }},"
        );
    }
    table.push(']');
    fs::write(out.join("assets.rs"), table)
}

/// Every style sheet, in the order of their names.
fn style_sheet(folder: &Path) -> io::Result<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut sheet = Vec::new();
    for path in listing(folder)? {
        if path.extension() == Some(OsStr::new("css")) {
            sheet.extend(fs::read(path)?);
        }
    }
    Ok(sheet)
}

/// The files of a folder, sorted; none where the folder is missing.
fn listing(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let hash = hasher.finish();
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{hash:016x}.{extension}"),
        None => format!("{name}.{hash:016x}"),
    }
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut packed, 4096, 11, 22);
    writer.write_all(bytes)?;
    drop(writer);
    Ok(packed)
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes)?;
    writer.finish()
}
