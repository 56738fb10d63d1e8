//! The kinds of job that the Bookstore runs: what they call, how they fail, how they are retried.

use rand::Rng;
use rand::rngs::StdRng;

use super::format::{Call, core, json, own};

/// The Bookstore's kinds of job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Import,
    Reconcile,
    Email,
    Stock,
    Export,
    Cover,
    Nightly,
    Search,
    Timeline,
    Recommend,
    Feed,
    Legacy,
    Map,
}

/// How the retry filter of a kind is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Delays in seconds; past the end of the list, the last one.
    Delays(u32, &'static [i64]),
    /// Hangfire's formula.
    Formula(u32),
    /// No retry.
    Never,
}

impl Policy {
    /// The most retries.
    pub(super) fn of(self) -> u32 {
        match self {
            Self::Delays(of, _) | Self::Formula(of) => of,
            Self::Never => 0,
        }
    }

    /// The delay before retry `number`, in seconds; `None` where it gives up.
    pub(super) fn delay(self, number: u32, rng: &mut StdRng) -> Option<i64> {
        if number > self.of() {
            return None;
        }
        match self {
            Self::Delays(_, delays) => {
                let index = (number as usize - 1).min(delays.len().checked_sub(1)?);
                Some(delays[index])
            }
            Self::Formula(_) => {
                let n = i64::from(number);
                Some((n - 1).pow(4) + 15 + rng.random_range(0..30) * n)
            }
            Self::Never => None,
        }
    }
}

/// One job to be done: a kind with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Errand {
    pub(super) kind: Kind,
    pub(super) call: Call,
    /// The queue that the class's attribute elects.
    pub(super) queue: &'static str,
    /// What messages speak of: an invoice's number, a SKU, a path.
    pub(super) subject: String,
    /// A second word for messages: a claim's key, for example.
    pub(super) key: String,
}

/// Figures of a kind: queue, retry policy, run time in milliseconds, chance that the first attempt
/// fails and that a retry fails again, share of the traffic.
pub(super) struct Spec {
    pub(super) queue: &'static str,
    pub(super) policy: Policy,
    pub(super) run_ms: (i64, i64),
    pub(super) fails: f64,
    pub(super) fails_again: f64,
    pub(super) weight: u32,
}

const fn spec(
    queue: &'static str,
    policy: Policy,
    run_ms: (i64, i64),
    (fails, fails_again): (f64, f64),
    weight: u32,
) -> Spec {
    Spec {
        queue,
        policy,
        run_ms,
        fails,
        fails_again,
        weight,
    }
}

impl Kind {
    /// The kinds of everyday traffic.
    pub(super) const TRAFFIC: [Self; 9] = [
        Self::Import,
        Self::Reconcile,
        Self::Email,
        Self::Stock,
        Self::Export,
        Self::Cover,
        Self::Search,
        Self::Recommend,
        Self::Feed,
    ];

    pub(super) fn spec(self) -> Spec {
        use Policy::{Delays, Formula, Never};
        match self {
            Self::Import => spec(
                "suppliers",
                Delays(3, &[2, 5, 10]),
                (600, 4_500),
                (0.10, 0.30),
                38,
            ),
            Self::Reconcile => spec("finance", Never, (80, 900), (0.06, 0.0), 8),
            Self::Email => spec("mail", Formula(10), (300, 1_400), (0.015, 0.3), 22),
            Self::Stock => spec("stock", Formula(10), (90, 700), (0.09, 0.45), 14),
            Self::Export => spec("exports", Formula(10), (1_200, 21_000), (0.10, 0.10), 7),
            Self::Cover => spec(
                "media",
                Delays(3, &[30, 120, 600]),
                (400, 6_000),
                (0.04, 0.25),
                6,
            ),
            Self::Nightly => spec("reports", Formula(2), (240_000, 1_100_000), (0.0, 0.0), 0),
            Self::Search => spec("default", Formula(10), (2_000, 40_000), (0.02, 0.2), 3),
            Self::Timeline => spec("default", Formula(10), (20, 180), (0.01, 0.2), 0),
            Self::Recommend => spec(
                "default",
                Delays(2, &[60, 300]),
                (900, 9_000),
                (0.12, 0.55),
                3,
            ),
            Self::Feed => spec("default", Formula(10), (700, 5_000), (0.02, 0.2), 2),
            Self::Legacy => spec("exports", Formula(10), (1_000, 2_000), (0.0, 0.0), 0),
            Self::Map => spec(super::fleet::UNSERVED, Formula(10), (1, 2), (0.0, 0.0), 0),
        }
    }

    /// A job of this kind about the thing of this number.
    pub(super) fn errand_for(self, rng: &mut StdRng, number: u32) -> Errand {
        let (name, method) = self.name();
        let arguments = self.arguments(rng, number);
        let subject = arguments
            .first()
            .and_then(Option::as_deref)
            .map(|text| text.trim_matches('"').to_owned())
            .unwrap_or_default();
        let type_name = match self {
            Self::Search => own(&format!("{name}`1[[{}]]", own("Bookstore.Catalogue.Book"))),
            _ => own(name),
        };
        Errand {
            kind: self,
            call: Call {
                type_name,
                method,
                parameter_types: self.parameter_types(),
                arguments,
                own_queue: None,
            },
            queue: self.spec().queue,
            key: format!("invoice-email:{subject}"),
            subject,
        }
    }

    /// The type and the method.
    pub(super) fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Import => ("Bookstore.Jobs.SupplierInvoiceJobs", "ImportAsync"),
            Self::Reconcile => ("Bookstore.Jobs.SupplierInvoiceJobs", "ReconcileAsync"),
            Self::Email => ("Bookstore.Jobs.InvoiceEmailJob", "SendAsync"),
            Self::Stock => ("Bookstore.Jobs.StockSyncJob", "PushAsync"),
            Self::Export => ("Bookstore.Jobs.OrderExportJob", "RunAsync"),
            Self::Cover => ("Bookstore.Jobs.CoverImageJob", "ResizeAsync"),
            Self::Nightly => ("Bookstore.Jobs.NightlyReportJob", "RunAsync"),
            Self::Search => ("Bookstore.Jobs.SearchIndexJobs", "ReindexAsync"),
            Self::Timeline => ("Bookstore.Jobs.OrderTimelineJob", "AppendAsync"),
            Self::Recommend => ("Bookstore.Jobs.RecommendationJob", "RefreshAsync"),
            Self::Feed => ("Bookstore.Jobs.MarketplaceFeedJob", "PublishAsync"),
            Self::Legacy => ("Bookstore.Jobs.CatalogueExport", "WriteOnixAsync"),
            Self::Map => ("Bookstore.Jobs.WarehouseMapJob", "RedrawAsync"),
        }
    }

    /// The types of the method's parameters.
    fn parameter_types(self) -> Vec<String> {
        let int = || core("System.Int32");
        let text = || core("System.String");
        let token = || core("System.Threading.CancellationToken");
        match self {
            Self::Import | Self::Reconcile | Self::Timeline => vec![int(), text()],
            Self::Email => vec![int(), text(), text(), text(), token()],
            Self::Stock => vec![text(), int(), text()],
            Self::Export => vec![int(), text(), text()],
            Self::Cover => vec![text(), core("System.Int32[]")],
            Self::Nightly => vec![text(), token()],
            Self::Search => vec![core(&format!(
                "System.Collections.Generic.List`1[[{}]]",
                text()
            ))],
            Self::Recommend | Self::Legacy => vec![int()],
            Self::Feed | Self::Map => vec![text()],
        }
    }

    /// One argument per parameter, as JSON text; `None` for those that Hangfire injects.
    fn arguments(self, rng: &mut StdRng, number: u32) -> Vec<Option<String>> {
        let some = |value: String| Some(value);
        match self {
            Self::Import => vec![
                some(pick(rng, &["118", "44", "7", "31", "902"]).to_owned()),
                some(json(&format!(
                    "{}{number}",
                    pick(rng, &["HB-2026-8", "LIBRI-55-2", "KNV-009", "VLB/26/4"])
                ))),
            ],
            Self::Reconcile => vec![some(number.to_string()), some(json("2026-11"))],
            Self::Email => vec![
                some(number.to_string()),
                some(json(pick(rng, &["invoice-paid", "invoice-due"]))),
                some(json(&format!("customer{number}@example.com"))),
                some(json(pick(rng, &["de-DE", "en-GB", "tr-TR", "fr-FR"]))),
                None,
            ],
            Self::Stock => vec![
                some(json(&isbn(number))),
                some(rng.random_range(-5..20).to_string()),
                some(json(pick(rng, &["leipzig-2", "graz-1", "utrecht-1"]))),
            ],
            Self::Export => vec![
                some((550_000 + number).to_string()),
                some(json(pick(rng, &["datev", "lexware"]))),
                some(json("xml")),
            ],
            Self::Cover => vec![
                some(json(&isbn(number))),
                some("[160,320,640,1280]".to_owned()),
            ],
            Self::Nightly => vec![some(json("Zusammenfassung – günlük özet – 日報")), None],
            Self::Search => vec![some(json(&[
                isbn(number),
                isbn(number + 1),
                isbn(number + 2),
            ]))],
            Self::Timeline => vec![some(number.to_string()), some(json("invoice sent"))],
            Self::Recommend | Self::Legacy => vec![some(number.to_string())],
            Self::Feed => vec![some(json(pick(
                rng,
                &["amazon-de", "thalia", "booklooker"],
            )))],
            Self::Map => vec![some(json(pick(rng, &["leipzig-2", "graz-1"])))],
        }
    }
}

fn pick<'a>(rng: &mut StdRng, from: &[&'a str]) -> &'a str {
    from[rng.random_range(0..from.len())]
}

fn isbn(number: u32) -> String {
    format!(
        "978-3-{:02}-{:06}-{}",
        number % 97,
        u64::from(number) * 7_919 % 1_000_000,
        number % 10
    )
}
