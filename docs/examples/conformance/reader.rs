//! Reads the conformance suite of CuTe layout algebra, and runs an implementation against it: no crate is needed.
//!
//!     rustc --edition 2021 -O reader.rs
//!     ./reader conformance.json          against the definition
//!     ./reader conformance.json cpp      against what CuTe C++ answers; dsl: the CuTe DSL
//!
//! Put your own algebra into `offered`; three operations stand there as an example. The exit status is 1 if one is wrong.

use std::collections::BTreeMap;
use std::process::ExitCode;

/// JSON, as far as the file has it; a list of a shape or a tuple is a list here too.
#[derive(Clone, Debug)]
enum Value {
    Null,
    Number(i64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    fn find(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn next(&mut self) -> char {
        self.rest = self.rest.trim_start();
        self.rest.chars().next().expect("the line ends too early")
    }

    fn skip(&mut self) {
        self.rest = &self.rest[1..];
    }

    fn word(&mut self) -> String {
        self.next();
        let mut out = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        loop {
            match letters.next().expect("the text does not end") {
                (at, '"') => {
                    self.rest = &self.rest[at + 1..];
                    return out;
                }
                (_, '\\') => out.extend(letters.next().map(|(_, letter)| letter)), // reasons alone have them
                (_, letter) => out.push(letter),
            }
        }
    }

    fn value(&mut self) -> Value {
        match self.next() {
            '"' => Value::Text(self.word()),
            '[' => {
                self.skip();
                let mut items = Vec::new();
                while self.next() != ']' {
                    items.push(self.value());
                    if self.next() == ',' {
                        self.skip();
                    }
                }
                self.skip();
                Value::List(items)
            }
            '{' => {
                self.skip();
                let mut pairs = Vec::new();
                while self.next() != '}' {
                    let key = self.word();
                    self.next();
                    self.skip(); // the colon
                    pairs.push((key, self.value()));
                    if self.next() == ',' {
                        self.skip();
                    }
                }
                self.skip();
                Value::Object(pairs)
            }
            'n' => {
                self.rest = &self.rest[4..];
                Value::Null
            }
            _ => {
                let end = self.rest.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(self.rest.len());
                let number = self.rest[..end].parse().expect("a number");
                self.rest = &self.rest[end..];
                Value::Number(number)
            }
        }
    }
}

/// A nested tuple of integers in notation: (4,(2,1)).
enum Tree {
    Leaf(i64),
    Modes(Vec<Tree>),
}

impl Tree {
    fn read(text: &mut &str) -> Tree {
        if !text.starts_with('(') {
            let end = text.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
            let number = text[..end].parse().expect("a number");
            *text = &text[end..];
            return Tree::Leaf(number);
        }
        *text = &text[1..];
        let mut modes = Vec::new();
        while !text.starts_with(')') {
            modes.push(Tree::read(text));
            *text = text.strip_prefix(',').unwrap_or(text);
        }
        *text = &text[1..];
        Tree::Modes(modes)
    }

    fn write(&self) -> String {
        match self {
            Tree::Leaf(number) => number.to_string(),
            Tree::Modes(modes) => format!("({})", modes.iter().map(Tree::write).collect::<Vec<_>>().join(",")),
        }
    }

    fn leaves(&self) -> Vec<i64> {
        match self {
            Tree::Leaf(number) => vec![*number],
            Tree::Modes(modes) => modes.iter().flat_map(Tree::leaves).collect(),
        }
    }
}

struct Layout {
    shape: Tree,
    stride: Tree,
}

/// Why there is nothing to compare, or no answer.
#[allow(dead_code)] // this example refuses nothing
enum Without {
    NotOffered, // of this example: swizzles, coordinates, operations that it does not have
    Refused,    // no right answer
}

impl Layout {
    fn read(text: &str) -> Result<Layout, Without> {
        if text.contains(['S', '@']) || text.contains(" o ") {
            return Err(Without::NotOffered);
        }
        let (mut shape, mut stride) = text.split_once(':').ok_or(Without::NotOffered)?;
        Ok(Layout { shape: Tree::read(&mut shape), stride: Tree::read(&mut stride) })
    }

    fn write(&self) -> String {
        format!("{}:{}", self.shape.write(), self.stride.write())
    }
}

/// Strides of modes of extent 1 are never used: two answers that differ in them alone are the same.
fn without_unused(shape: &Tree, stride: &Tree) -> Tree {
    match (shape, stride) {
        (Tree::Leaf(1), _) => Tree::Leaf(0),
        (Tree::Modes(shapes), Tree::Modes(strides)) => {
            Tree::Modes(shapes.iter().zip(strides).map(|(a, b)| without_unused(a, b)).collect())
        }
        (_, Tree::Leaf(number)) => Tree::Leaf(*number),
        _ => panic!("shape and stride must have one profile"),
    }
}

fn comparable(value: &Value) -> Result<String, Without> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        Value::Text(text) if text.contains(':') => {
            let layout = Layout::read(text)?;
            let stride = without_unused(&layout.shape, &layout.stride);
            Ok(Layout { stride, ..layout }.write())
        }
        Value::Text(text) => Ok(text.clone()),
        _ => Err(Without::NotOffered),
    }
}

/// What an implementation should answer: by the definition, or as CuTe does; None if it refuses.
fn expected(case: &Value, who: &str) -> Option<Value> {
    match case.find(who).map(Value::text) {
        None | Some("same" | "unasked") => case.find("answer").cloned(),
        Some("form" | "other") => case.find(&format!("{who}_answer")).cloned(),
        Some(_) => None, // refused, or a crash
    }
}

// ---- the algebra under test ----------------------------------------------------------------------------------------

fn size(layout: &Layout) -> i64 {
    layout.shape.leaves().iter().product()
}

fn offset(mut index: i64, layout: &Layout) -> i64 {
    let (extents, strides) = (layout.shape.leaves(), layout.stride.leaves());
    let last = extents.len() - 1; // the last mode runs on
    let mut sum = 0;
    for (i, (extent, stride)) in extents.iter().zip(strides).enumerate() {
        sum += stride * if i == last { index } else { index % extent };
        index /= extent;
    }
    sum
}

fn coalesce(layout: &Layout) -> Layout {
    let mut modes: Vec<(i64, i64)> = Vec::new();
    for (extent, stride) in layout.shape.leaves().into_iter().zip(layout.stride.leaves()) {
        match modes.last_mut() {
            _ if extent == 1 => {}
            Some(last) if last.0 * last.1 == stride => last.0 *= extent,
            _ => modes.push((extent, stride)),
        }
    }
    match modes[..] {
        [] => Layout { shape: Tree::Leaf(1), stride: Tree::Leaf(0) },
        [(extent, stride)] => Layout { shape: Tree::Leaf(extent), stride: Tree::Leaf(stride) },
        _ => Layout {
            shape: Tree::Modes(modes.iter().map(|mode| Tree::Leaf(mode.0)).collect()),
            stride: Tree::Modes(modes.iter().map(|mode| Tree::Leaf(mode.1)).collect()),
        },
    }
}

fn offered(operation: &str, operands: &[Value]) -> Result<String, Without> {
    match (operation, operands) {
        ("size", [layout]) => Ok(size(&Layout::read(layout.text())?).to_string()),
        ("coalesce", [layout]) => Ok(coalesce(&Layout::read(layout.text())?).write()),
        ("crd2idx", [Value::Number(index), layout]) => Ok(offset(*index, &Layout::read(layout.text())?).to_string()),
        _ => Err(Without::NotOffered),
    }
}

// --------------------------------------------------------------------------------------------------------------------

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(path) = arguments.get(1) else {
        eprintln!("reader CONFORMANCE.JSON [dsl|cpp]");
        return ExitCode::from(2);
    };
    let who = arguments.get(2).map_or("", String::as_str);
    let text = std::fs::read_to_string(path).expect("the file");
    let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    let mut cases = 0;
    for line in text.lines().filter(|line| line.starts_with("    {\"operation\"")) {
        let case = Reader { rest: line }.value(); // a case is one line
        let operation = case.find("operation").expect("an operation").text();
        let Some(Value::List(operands)) = case.find("operands") else { panic!("no operands: {line}") };
        let counted = counts.entry(operation.to_string()).or_default();
        cases += 1;
        let found = match offered(operation, operands) {
            Ok(text) => comparable(&Value::Text(text)),
            Err(Without::Refused) => Ok("refused".to_string()),
            Err(Without::NotOffered) => {
                counted[2] += 1;
                continue;
            }
        };
        let wanted = expected(&case, who).map_or(Ok("refused".to_string()), |value| comparable(&value));
        match (found, wanted) {
            (Ok(found), Ok(wanted)) if found == wanted => counted[0] += 1,
            (Ok(found), Ok(wanted)) => {
                counted[1] += 1;
                println!("WRONG: {line}\n   found {found}, not {wanted}");
            }
            _ => counted[2] += 1,
        }
    }
    for (operation, [right, wrong, left_out]) in counts.iter().filter(|(_, count)| count[0] + count[1] > 0) {
        println!("{operation}: {right} right, {wrong} wrong, {left_out} not offered");
    }
    println!("{cases} cases");
    ExitCode::from(counts.values().any(|count| count[1] > 0) as u8)
}
