//! A table as a CSV file.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file named after the source and the table.
pub(super) fn answer(source: &str, table: &str, rows: &[Vec<String>]) -> Response {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_".contains(c) {
            c
        } else {
            '-'
        }
    };
    let source: String = source.chars().map(safe).collect();
    (
        [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
            (
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{source}-{table}.csv\""),
            ),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ],
        write(rows),
    )
        .into_response()
}

/// RFC 4180. What a spreadsheet would take for a formula is made text by an apostrophe.
fn write(rows: &[Vec<String>]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail; rows of other lengths are allowed.
        let _ = writer.write_record(row.iter().map(|cell| guarded(cell)));
    }
    writer.into_inner().unwrap_or_default()
}

/// Numbers stay numbers; other text that begins as a formula does gets an apostrophe.
fn guarded(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if formula && cell.parse::<f64>().is_err() {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let rows = [
            vec!["type".to_owned(), "rate".to_owned()],
            vec!["A, \"B\"".to_owned(), "0.8".to_owned()],
        ];
        assert_eq!(
            String::from_utf8(write(&rows)).unwrap(),
            "type,rate\r\n\"A, \"\"B\"\"\",0.8\r\n"
        );
    }

    #[test]
    fn formulas_are_made_text() {
        for (cell, safe) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("+1+1", "'+1+1"),
            ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("-3.5", "-3.5"),
            ("Bookstore.Jobs.A", "Bookstore.Jobs.A"),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), safe);
        }
    }

    #[test]
    fn the_file_is_named_after_its_source_and_table() {
        let answer = answer("p\"q/é", "kinds", &[]);
        let header = answer.headers()[header::CONTENT_DISPOSITION]
            .to_str()
            .unwrap();
        assert_eq!(header, "attachment; filename=\"p-q---kinds.csv\"");
    }
}
