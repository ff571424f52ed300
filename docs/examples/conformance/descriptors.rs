//! Reads the conformance suite of shared-memory descriptors, and runs a derivation against it: no crate is needed.
//!
//!     rustc --edition 2021 -O descriptors.rs
//!     ./descriptors descriptors.json
//!
//! Replace `derive` by your own code. The one here has closed forms for tiles of canonical atoms; operands with K = 96 are
//! not offered. The exit status is 1 if a descriptor is wrong.

use std::collections::BTreeMap;
use std::process::ExitCode;

/// A row is one line, with one object whose keys are in a fixed order; these methods find the value of a key.
struct Row<'a>(&'a str);

impl<'a> Row<'a> {
    fn after(&self, key: &str) -> Option<&'a str> {
        let name = format!("\"{key}\": ");
        self.0.find(&name).map(|at| &self.0[at + name.len()..])
    }

    fn text(&self, key: &str) -> &'a str {
        self.after(key).and_then(|rest| rest.split('"').nth(1)).unwrap_or("")
    }

    fn numbers(&self, key: &str) -> Vec<u64> {
        let inner = self.after(key).and_then(|rest| rest.split(']').next()).unwrap_or("");
        inner.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    }

    fn hex(&self, key: &str) -> u64 {
        u64::from_str_radix(self.text(key).trim_start_matches("0x"), 16).expect("a descriptor is hexadecimal")
    }
}

/// The descriptors of the first and of the last operand of a tile.
fn derive(row: &Row) -> Option<(u64, u64)> {
    let (arch, swizzle, k_major) = (row.text("arch"), row.text("swizzle"), row.text("major") == "K");
    let (tile, mma, order) = (row.numbers("tile"), row.numbers("mma"), row.numbers("order"));
    if mma[1] == 96 {
        return None; // an operand that may cross atoms
    }
    let bits = match row.text("dtype") {
        "tf32" => 32,
        "f16" | "bf16" => 16,
        "e2m1" => 4,
        _ => 8,
    };
    let (span, hopper, newer) = match swizzle {
        "none" => (16, 0, 0),
        "32B" => (32, 3, 6),
        "64B" => (64, 2, 4),
        "128B" => (128, 1, 2),
        _ => (128, 0, 1),
    };
    let (swizzled, thin, line) = (swizzle != "none", swizzle == "128B_BASE32B", 8 * span / bits);

    // The atom: 8 rows of a line. Its copies are stacked along MN first or along K first.
    let ((n0, d0), (n1, d1)) = if k_major { ((8, line), (line, 1)) } else { ((line, 1), (8, line)) };
    let (copies0, copies1, atom) = (tile[0] / n0, tile[1] / n1, 8 * line);
    let (next0, next1) = if order[0] < order[1] { (atom, atom * copies0) } else { (atom * copies1, atom) };
    let (mn_bytes, k_bytes) = (next0 * bits / 8, next1 * bits / 8);
    let (leading, stride) = match (k_major, swizzled) {
        (true, true) => (16, mn_bytes),
        (false, true) => (mn_bytes, if thin { 512 } else { k_bytes }),
        (_, false) => (k_bytes, mn_bytes),
    };

    let base = row.numbers("base")[0];
    let repeats = if thin { 1024 } else if swizzled { 8 * span } else { 16 };
    let base_offset = if base % repeats != 0 { base / 128 % 8 } else { 0 };
    let start = |i: u64, j: u64, stage: u64| {
        let within = i % n0 * d0 + i / n0 * next0 + j % n1 * d1 + j / n1 * next1;
        base + (within + stage * tile[0] * tile[1]) * bits / 8
    };
    let word = |address: u64| {
        let fields = address / 16 | leading / 16 << 16 | stride / 16 << 32 | base_offset << 49;
        fields | if arch == "sm90" { hopper << 62 } else { 1 << 46 | newer << 61 }
    };
    let stages = tile.get(2).copied().unwrap_or(1);
    Some((word(start(0, 0, 0)), word(start(tile[0] - mma[0], tile[1] - mma[1], stages - 1))))
}

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "descriptors.json".to_string());
    let Ok(file) = std::fs::read_to_string(&path) else {
        eprintln!("descriptors: {path} cannot be read");
        return ExitCode::from(2);
    };
    let mut counts: BTreeMap<&str, [u32; 3]> = BTreeMap::new(); // right, wrong, not offered
    let (mut rows, mut refused) = (0, 0);
    for line in file.lines().filter(|line| line.starts_with("    {\"arch\":")) {
        let row = Row(line);
        rows += 1;
        if row.after("word").is_none() {
            refused += 1;
            continue;
        }
        let counted = counts.entry(row.text("arch")).or_default();
        let read = !row.hex("ignored");
        match derive(&row) {
            None => counted[2] += 1,
            Some((first, last)) if ((first ^ row.hex("word")) | (last ^ row.hex("last"))) & read == 0 => counted[0] += 1,
            Some((first, last)) => {
                counted[1] += 1;
                println!("WRONG: {line}\n   derived {first:#x} and {last:#x}");
            }
        }
    }
    for (arch, [right, wrong, left]) in &counts {
        println!("{arch}: {right} right, {wrong} wrong, {left} not offered");
    }
    println!("{rows} rows, {refused} of them refused and not compared");
    ExitCode::from(u8::from(counts.values().any(|counted| counted[1] != 0)))
}
