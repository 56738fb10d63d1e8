//! What the Bookstore's jobs throw.

use rand::Rng;
use rand::rngs::StdRng;

use super::catalogue::{Errand, Kind};
use super::trace::Fault;

impl Errand {
    /// What this job usually throws.
    pub(super) fn usual_fault(&self, rng: &mut StdRng) -> Fault {
        match self.kind {
            Kind::Import | Kind::Recommend => supplier_timeout(self),
            Kind::Reconcile => no_order(self),
            Kind::Email | Kind::Timeline => mail_timeout(),
            Kind::Stock => too_many_requests(),
            Kind::Export => deadlock(rng),
            Kind::Cover => disk_full(self),
            Kind::Nightly => report_failed(),
            Kind::Search => index_failed(),
            Kind::Feed => feed_refused(),
            Kind::Legacy => method_gone(),
            Kind::Map => Fault::new("System.NotSupportedException", "No map", &[]),
        }
    }
}

/// The supplier's API does not answer in time.
pub(super) fn supplier_timeout(errand: &Errand) -> Fault {
    let what = if errand.kind == Kind::Recommend {
        "Recommendation service did not respond in 10 s"
    } else {
        "Supplier API did not respond in 10 s"
    };
    let job = if errand.kind == Kind::Recommend {
        "Bookstore.Jobs.RecommendationJob.RefreshAsync(Int32 customerId) in \
         /src/Bookstore.Jobs/RecommendationJob.cs:line 37"
    } else {
        "Bookstore.Jobs.SupplierInvoiceJobs.ImportAsync(Int32 supplierId, String invoiceNo) in \
         /src/Bookstore.Jobs/SupplierInvoiceJobs.cs:line 27"
    };
    Fault::nested(
        "System.TimeoutException",
        what,
        &[
            "Bookstore.Suppliers.SupplierClient.GetAsync(Uri address, CancellationToken ct) in \
             /src/Bookstore.Suppliers/SupplierClient.cs:line 88",
            job,
        ],
        &[(
            "System.Threading.Tasks.TaskCanceledException",
            "The request was canceled due to the configured HttpClient.Timeout of 10 seconds \
             elapsing.",
            &[
                "System.Net.Http.HttpClient.HandleFailure(Exception e, Boolean telemetryStarted, \
                 HttpResponseMessage response, CancellationTokenSource cts, CancellationToken \
                 cancellationToken, CancellationTokenSource pendingRequestsCts)",
                "System.Net.Http.HttpClient.<SendAsync>g__Core|83_0(HttpRequestMessage request, \
                 HttpCompletionOption completionOption, CancellationTokenSource cts, Boolean \
                 disposeCts, CancellationTokenSource pendingRequestsCts, CancellationToken \
                 originalCancellationToken)",
            ],
        )],
    )
}

/// A permanent error: nothing to match.
pub(super) fn no_order(errand: &Errand) -> Fault {
    Fault::new(
        "Bookstore.Jobs.PermanentJobException",
        format!("Invoice {} has no matching order", errand.subject),
        &[
            "Bookstore.Finance.Matching.FindOrderAsync(Int32 invoiceId) in \
             /src/Bookstore.Finance/Matching.cs:line 61",
            "Bookstore.Jobs.SupplierInvoiceJobs.ReconcileAsync(Int32 invoiceId, String period) in \
             /src/Bookstore.Jobs/SupplierInvoiceJobs.cs:line 36",
        ],
    )
}

const SEND: &str = "Bookstore.Jobs.InvoiceEmailJob.SendAsync(Int32 orderId, String template, \
                    String to, String locale, CancellationToken ct) in \
                    /src/Bookstore.Jobs/InvoiceEmailJob.cs:line 41";

/// The mail provider took the message, perhaps, but did not answer.
pub(super) fn mail_timeout() -> Fault {
    Fault::new(
        "System.TimeoutException",
        "Mail provider did not answer in 30 s",
        &[
            "Bookstore.Mail.ProviderClient.SendAsync(String to, String subject, String key, \
             CancellationToken ct) in /src/Bookstore.Mail/ProviderClient.cs:line 54",
            SEND,
        ],
    )
}

/// The job's own claim is still Sending.
pub(super) fn claim_in_flight(errand: &Errand, age_s: i64) -> Fault {
    Fault::new(
        "Bookstore.Claims.ClaimInFlightException",
        format!(
            "Claim {} is Sending since {age_s} s; not sending again before 600 s",
            errand.key
        ),
        &[
            "Bookstore.Claims.ClaimStore.AcquireAsync(String key, TimeSpan staleAfter) in \
             /src/Bookstore.Claims/ClaimStore.cs:line 88",
            SEND,
        ],
    )
}

/// The mail provider refuses the address.
pub(super) fn mailbox_unknown() -> Fault {
    Fault::new(
        "Bookstore.Mail.ProviderRejectedException",
        "550 5.1.1 mailbox does not exist",
        &[
            "Bookstore.Mail.ProviderClient.SendAsync(String to, String subject, String key, \
             CancellationToken ct) in /src/Bookstore.Mail/ProviderClient.cs:line 71",
            SEND,
        ],
    )
}

const PUSH: &str = "Bookstore.Jobs.StockSyncJob.PushAsync(String sku, Int32 delta, String \
                    warehouse) in /src/Bookstore.Jobs/StockSyncJob.cs:line 24";

/// The warehouse throttles.
pub(super) fn too_many_requests() -> Fault {
    Fault::new(
        "System.Net.Http.HttpRequestException",
        "Warehouse API answered 429 Too Many Requests",
        &[
            "System.Net.Http.HttpResponseMessage.EnsureSuccessStatusCode()",
            "Bookstore.Warehouse.WarehouseClient.PatchStockAsync(String sku, Int32 delta) in \
             /src/Bookstore.Warehouse/WarehouseClient.cs:line 119",
            PUSH,
        ],
    )
}

/// A permanent error that the policy retries all the same.
pub(super) fn not_in_catalogue(errand: &Errand) -> Fault {
    Fault::new(
        "Bookstore.Jobs.PermanentJobException",
        format!("SKU {} is not in the catalogue", errand.subject),
        &[
            "Bookstore.Catalogue.BookLookup.RequireAsync(String sku) in \
             /src/Bookstore.Catalogue/BookLookup.cs:line 33",
            PUSH,
        ],
    )
}

/// Two exports lock each other.
pub(super) fn deadlock(rng: &mut StdRng) -> Fault {
    let message = format!(
        "40P01: deadlock detected while locking tuple ({},{}) in relation \"orders\"",
        rng.random_range(10..900),
        rng.random_range(1..60)
    );
    Fault::new(
        "Npgsql.PostgresException",
        message,
        &[
            "Npgsql.Internal.NpgsqlConnector.ReadMessageLong(Boolean async, DataRowLoadingMode \
             dataRowLoadingMode, Boolean readingNotifications, Boolean isReadingPrependedMessage)",
            "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1\
             .StateMachineBox`1.System.Threading.Tasks.Sources.IValueTaskSource<TResult>\
             .GetResult(Int16 token)",
            "Npgsql.NpgsqlDataReader.NextResult(Boolean async, Boolean isConsuming, \
             CancellationToken cancellationToken)",
            "Bookstore.Orders.OrderExporter.LockAsync(Int32 orderId) in \
             /src/Bookstore.Orders/OrderExporter.cs:line 142",
            "Bookstore.Jobs.OrderExportJob.RunAsync(Int32 orderId, String target, String format) \
             in /src/Bookstore.Jobs/OrderExportJob.cs:line 58",
        ],
    )
}

/// The disk of the image server is full.
pub(super) fn disk_full(errand: &Errand) -> Fault {
    let path = errand.subject.replace('-', "");
    Fault::new(
        "System.IO.IOException",
        format!("No space left on device: /var/covers/tmp/{path}.webp"),
        &[
            "System.IO.RandomAccess.WriteAtOffset(SafeFileHandle handle, ReadOnlySpan`1 buffer, \
             Int64 fileOffset)",
            "System.IO.Strategies.BufferedFileStreamStrategy.FlushWrite()",
            "Bookstore.Media.WebpWriter.SaveAsync(Image image, String path) in \
             /src/Bookstore.Media/WebpWriter.cs:line 77",
            "Bookstore.Jobs.CoverImageJob.ResizeAsync(String isbn, Int32[] widths) in \
             /src/Bookstore.Jobs/CoverImageJob.cs:line 19",
        ],
    )
}

/// Several exceptions in one.
pub(super) fn feed_refused() -> Fault {
    Fault::nested(
        "System.AggregateException",
        "One or more errors occurred. (Feed refused: 3 offers without price) (Connection reset by \
         peer)",
        &[
            "Bookstore.Jobs.MarketplaceFeedJob.PublishAsync(String market) in \
           /src/Bookstore.Jobs/MarketplaceFeedJob.cs:line 83",
        ],
        &[(
            "Bookstore.Feeds.FeedException",
            "Feed refused: 3 offers without price",
            &["Bookstore.Feeds.FeedClient.CheckAsync(Stream answer) in \
               /src/Bookstore.Feeds/FeedClient.cs:line 210"],
        )],
    )
}

/// Three exceptions deep.
pub(super) fn report_failed() -> Fault {
    Fault::nested(
        "System.InvalidOperationException",
        "The report could not be written – Bericht für Köln übersprungen",
        &[
            "Bookstore.Jobs.NightlyReportJob.RunAsync(String title, CancellationToken ct) in \
           /src/Bookstore.Jobs/NightlyReportJob.cs:line 64",
        ],
        &[
            (
                "Bookstore.Reports.SectionException",
                "Section \"Umsatz\" failed",
                &[
                    "Bookstore.Reports.ReportWriter.WriteSectionAsync(Section section) in \
                   /src/Bookstore.Reports/ReportWriter.cs:line 131",
                ],
            ),
            (
                "System.FormatException",
                "Input string '12,5O' was not in a correct format.",
                &[
                    "System.Number.ThrowFormatException[TChar](ReadOnlySpan`1 value)",
                    "System.Decimal.Parse(String s, IFormatProvider provider)",
                    "Bookstore.Reports.Totals.Read(String cell) in \
                     /src/Bookstore.Reports/Totals.cs:line 27",
                ],
            ),
        ],
    )
}

/// A recursion with a long trace; Hangfire keeps its first 100 lines.
pub(super) fn index_failed() -> Fault {
    let visit = "Bookstore.Search.CategoryTree.Visit(Category category, Int32 depth) in \
                 /src/Bookstore.Search/CategoryTree.cs:line 48";
    let mut frames = vec![
        "System.Collections.Generic.Dictionary`2.get_Item(TKey key)",
        "Bookstore.Search.CategoryTree.Resolve(String slug) in \
         /src/Bookstore.Search/CategoryTree.cs:line 22",
    ];
    frames.extend([visit; 90]);
    frames.push(
        "Bookstore.Jobs.SearchIndexJobs`1.ReindexAsync(List`1 isbns) in \
         /src/Bookstore.Jobs/SearchIndexJobs.cs:line 40",
    );
    Fault::new(
        "System.Collections.Generic.KeyNotFoundException",
        "The given key 'kinder/bilderbücher/📚' was not present in the dictionary.",
        &frames,
    )
}

/// The class was changed while jobs of it were waiting.
pub(super) fn method_gone() -> Fault {
    let message = "The type `Bookstore.Jobs.CatalogueExport` does not contain a method with \
                   signature `WriteOnixAsync(Int32)`";
    Fault {
        type_name: "System.InvalidOperationException",
        message: message.to_owned(),
        details: format!(
            "System.InvalidOperationException: {message}\n   at \
             Hangfire.Storage.InvocationData.<>c.<CachedDeserializeMethod>b__33_0\
             (MethodDeserializerCacheKey key)\n   at System.Collections.Concurrent.\
             ConcurrentDictionary`2.GetOrAdd(TKey key, Func`2 valueFactory)\n   at \
             Hangfire.Storage.InvocationData.DeserializeJob()\n"
        ),
    }
}
