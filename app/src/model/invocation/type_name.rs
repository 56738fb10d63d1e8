//! .NET type names as they are stored: with assembly, nesting, generics and arrays.

/// Generics are read this deep; what is nested deeper stays as stored.
const MAX_DEPTH: usize = 16;

/// A type's name in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    /// The namespace, where it has one.
    pub namespace: Option<String>,
    /// The assembly's short name, where it is stored.
    pub assembly: Option<String>,
    /// The type and what it is nested in, outermost first, each with its own generic arguments.
    pub parts: Vec<TypePart>,
    /// What follows the name: `[]`, `[,]`, `[][]`.
    pub suffix: String,
}

/// One name within a nested type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypePart {
    /// The name, without the number of its generic arguments.
    pub name: String,
    /// Its generic arguments.
    pub arguments: Vec<TypeName>,
}

impl TypeName {
    /// Reads a stored name, such as `` App.Importer`1+Nested[[App.Line, App]][], App ``. Never
    /// fails: what does not fit the format is kept as the name.
    pub fn parse(stored: &str) -> Self {
        Self::parse_within(stored, MAX_DEPTH)
    }

    fn parse_within(stored: &str, depth: usize) -> Self {
        let (name, assembly) = split_assembly(stored.trim());
        let (base, brackets) = match name.find('[') {
            Some(at) if depth > 0 => name.split_at(at),
            _ => (name, ""),
        };
        let (arguments, suffix) = generic_arguments(brackets);
        let mut arguments = arguments
            .into_iter()
            .map(|argument| Self::parse_within(argument, depth.saturating_sub(1)));
        let (namespace, base) = split_namespace(base);
        let mut parts: Vec<TypePart> = base
            .split('+')
            .map(|part| {
                let (name, arity) = split_arity(part);
                TypePart {
                    name: name.to_owned(),
                    arguments: arguments.by_ref().take(arity).collect(),
                }
            })
            .collect();
        // More arguments than the names announce: keep them at the last one.
        if let Some(last) = parts.last_mut() {
            last.arguments.extend(arguments);
        }
        Self {
            namespace: namespace.map(str::to_owned),
            assembly: assembly.map(str::to_owned),
            parts,
            suffix: suffix.to_owned(),
        }
    }

    /// Without namespaces: `Importer<OrderLine>.Nested[]`.
    pub fn short(&self) -> String {
        self.written(&Self::short)
    }

    /// With namespaces, without assemblies: `App.Importer<App.OrderLine>.Nested[]`.
    pub fn full(&self) -> String {
        let name = self.written(&Self::full);
        match &self.namespace {
            Some(namespace) => format!("{namespace}.{name}"),
            None => name,
        }
    }

    fn written(&self, argument: &dyn Fn(&Self) -> String) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|part| {
                if part.arguments.is_empty() {
                    return part.name.clone();
                }
                let arguments: Vec<String> = part.arguments.iter().map(argument).collect();
                format!("{}<{}>", part.name, arguments.join(", "))
            })
            .collect();
        format!("{}{}", parts.join("."), self.suffix)
    }
}

/// Parts the name from `, Assembly, Version=…`: at the first comma outside brackets.
fn split_assembly(stored: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    for (at, c) in stored.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let (name, rest) = stored.split_at(at);
                let assembly = rest.trim_start_matches(',').split(',').next();
                return (
                    name.trim_end(),
                    assembly.map(str::trim).filter(|name| !name.is_empty()),
                );
            }
            _ => {}
        }
    }
    (stored, None)
}

/// Generic arguments `[[A, asm],[B, asm]]` or `[A,B]`, and what follows them. Array brackets
/// (`[]`, `[,]`, `[*]`) are no arguments.
fn generic_arguments(brackets: &str) -> (Vec<&str>, &str) {
    let Some(inner) = brackets.strip_prefix('[') else {
        return (Vec::new(), brackets);
    };
    if inner.starts_with([']', ',', '*']) {
        return (Vec::new(), brackets);
    }
    let mut arguments = Vec::new();
    let mut depth = 1_usize;
    let mut start = 1;
    for (at, c) in brackets.char_indices().skip(1) {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            let argument = brackets.get(start..at).unwrap_or_default().trim();
            let unwrapped = argument
                .strip_prefix('[')
                .and_then(|inner| inner.strip_suffix(']'))
                .unwrap_or(argument);
            arguments.push(unwrapped);
            start = at + 1;
        }
        if depth == 0 {
            return (arguments, brackets.get(start..).unwrap_or_default());
        }
    }
    // Never closed: not what .NET writes.
    (Vec::new(), brackets)
}

fn split_namespace(base: &str) -> (Option<&str>, &str) {
    let outermost = base.find('+').unwrap_or(base.len());
    match base.get(..outermost).and_then(|outer| outer.rfind('.')) {
        Some(dot) if dot > 0 => (base.get(..dot), base.get(dot + 1..).unwrap_or_default()),
        _ => (None, base),
    }
}

fn split_arity(part: &str) -> (&str, usize) {
    part.rsplit_once('`')
        .and_then(|(name, arity)| Some((name, arity.parse().ok()?)))
        .unwrap_or((part, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_both_forms() {
        for (stored, short, full, assembly) in [
            (
                "Bookstore.Jobs.ReportJobs, Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null",
                "ReportJobs",
                "Bookstore.Jobs.ReportJobs",
                Some("Bookstore.Jobs"),
            ),
            ("System.String", "String", "System.String", None),
            ("Plain", "Plain", "Plain", None),
            (
                "System.Collections.Generic.List`1[[System.String]], mscorlib",
                "List<String>",
                "System.Collections.Generic.List<System.String>",
                Some("mscorlib"),
            ),
            (
                "Bookstore.Jobs.Importer`1+Nested[[Bookstore.Jobs.OrderLine, Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null]], Bookstore.Jobs, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null",
                "Importer<OrderLine>.Nested",
                "Bookstore.Jobs.Importer<Bookstore.Jobs.OrderLine>.Nested",
                Some("Bookstore.Jobs"),
            ),
            (
                "App.Outer+Inner, App",
                "Outer.Inner",
                "App.Outer.Inner",
                Some("App"),
            ),
            (
                "System.String[], mscorlib",
                "String[]",
                "System.String[]",
                Some("mscorlib"),
            ),
            ("System.Int32[,][]", "Int32[,][]", "System.Int32[,][]", None),
            (
                "System.Collections.Generic.Dictionary`2[[System.String],[System.Collections.Generic.List`1[[System.Int32]], mscorlib]][], mscorlib",
                "Dictionary<String, List<Int32>>[]",
                "System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<System.Int32>>[]",
                Some("mscorlib"),
            ),
            (
                "App.Pair`2[System.Int32,System.String]",
                "Pair<Int32, String>",
                "App.Pair<System.Int32, System.String>",
                None,
            ),
            (
                "App.Outer`1+Inner`1[[System.Int32],[System.String]]",
                "Outer<Int32>.Inner<String>",
                "App.Outer<System.Int32>.Inner<System.String>",
                None,
            ),
            (
                "<>f__AnonymousType8`2[[System.Int32],[System.Int32]], App",
                "<>f__AnonymousType8<Int32, Int32>",
                "<>f__AnonymousType8<Int32, Int32>",
                Some("App"),
            ),
        ] {
            let name = TypeName::parse(stored);
            assert_eq!(name.short(), short, "{stored}");
            if !stored.starts_with('<') {
                assert_eq!(name.full(), full, "{stored}");
            }
            assert_eq!(name.assembly.as_deref(), assembly, "{stored}");
        }
    }

    #[test]
    fn broken_names_stay_readable() {
        for (stored, short) in [
            ("", ""),
            (".", "."),
            (",", ""),
            ("App.List`1[[System.String", "List[[System.String"),
            ("App.Open`1", "Open"),
            ("App.Job]], x", "Job]]"),
            ("X\"><img src=x>", "X\"><img src=x>"),
        ] {
            assert_eq!(TypeName::parse(stored).short(), short, "{stored}");
        }
        let deep = "A`1[[".repeat(50_000);
        assert!(TypeName::parse(&deep).short().starts_with('A'));
        let deep = format!("{}B{}", "A`1[[".repeat(5_000), "]]".repeat(5_000));
        assert!(TypeName::parse(&deep).short().starts_with("A<A<A<"));
    }
}
