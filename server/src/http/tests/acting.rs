//! Acting through the router where the database, or the browser, goes away.

use app::ports::jobs::{Anchor, JobFilter};

use super::*;

const JSON: [(&str, &str); 1] = [("accept", "application/json")];

impl Site {
    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("hangfire.db")
    }

    /// Takes the file away; what lies there instead cannot be opened.
    fn take_away(&self) {
        std::fs::rename(self.file(), self.file().with_extension("kept")).unwrap();
        std::fs::create_dir(self.file()).unwrap();
    }

    fn bring_back(&self) {
        std::fs::remove_dir(self.file()).unwrap();
        std::fs::rename(self.file().with_extension("kept"), self.file()).unwrap();
    }

    /// `job:state_id:state` of the newest jobs.
    async fn items(&self, limit: u32) -> Vec<String> {
        let store = &self.state.source("main").unwrap().store;
        let filter = JobFilter::default();
        let page = store.list(&filter, Anchor::Start, limit).await.unwrap();
        page.rows
            .iter()
            .map(|row| {
                let (state, id) = (row.state.name.clone().unwrap(), row.state.id.unwrap());
                format!("{}:{id}:{state}", row.id)
            })
            .collect()
    }
}

#[tokio::test]
async fn an_action_on_a_database_that_is_away_is_an_error_that_changed_nothing() {
    let site = Site::at("").await;
    let one = "source=main&job=1&state=Failed&state_id=1";
    let two = "source=main&item=1:1:Failed&item=2:2:Failed";
    site.take_away();
    for form in [one, two] {
        let answer = site.post("/api/requeue", form, &JSON).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body["error"], "database_away");
        let message = body["message"].as_str().unwrap();
        assert!(message.starts_with("nothing was changed: "), "{message}");
        let page = site.post("/api/requeue", form, &[]).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(page.body.contains("Nothing was changed"), "{}", page.body);
        // The browser must not ask for the action's URL by itself.
        assert!(!page.headers.contains_key(header::REFRESH));
    }
    std::fs::remove_dir(site.file()).unwrap();
    let answer = site.post("/api/requeue", one, &JSON).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("no_database"), "{}", answer.body);
    std::fs::create_dir(site.file()).unwrap();
    site.bring_back();
    let answer = site
        .post(
            "/api/requeue",
            "source=main&job=1&state=Failed&state_id=1",
            &JSON,
        )
        .await;
    assert_eq!(answer.status, StatusCode::CONFLICT, "{}", answer.body);
}

#[tokio::test]
async fn a_tab_that_is_closed_leaves_no_job_out() {
    let site = Site::at("").await;
    let items = site.items(5).await;
    assert_eq!(items.len(), 5);
    let form = format!("source=main&item={}", items.join("&item="));
    {
        let asking = site.post("/api/delete", &form, &JSON);
        tokio::pin!(asking);
        // Polled once: it has begun, and is dropped here.
        assert!(futures::poll!(&mut asking).is_pending());
    }
    let store = &site.state.source("main").unwrap().store;
    let mut rows = Vec::new();
    while rows.len() < items.len() {
        rows = store.audit(None, None, 10).await.unwrap();
        tokio::task::yield_now().await;
    }
    // The page that they lead back to names each one, in the order in which they were done.
    rows.reverse();
    let done: Vec<String> = rows.iter().map(|row| format!("done={}", row.id)).collect();
    let page = site.get(&format!("/s/main/jobs?{}", done.join("&"))).await;
    let told: Vec<String> = page
        .body
        .split("<li data-outcome=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    let outcomes: Vec<String> = rows.iter().map(|row| row.outcome.clone()).collect();
    assert_eq!(told, outcomes);
}
