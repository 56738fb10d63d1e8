-- The audit learns of claims: an action on a claim may concern no job, and is guarded by the claim.
-- SQLite cannot make a column nullable, so the table is made anew; not by renaming, which fails in a
-- file that holds a view over a table that is gone. The runner's transaction holds all of it.
CREATE TABLE redrive_audit_before AS SELECT * FROM redrive_audit;
DROP TABLE redrive_audit;
CREATE TABLE redrive_audit (
  id TEXT NOT NULL PRIMARY KEY,
  source TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  authenticated INTEGER NOT NULL,
  action TEXT NOT NULL,
  job INTEGER,
  seen_state TEXT,
  seen_state_id INTEGER,
  before_state TEXT,
  before_state_id INTEGER,
  after_state TEXT,
  after_state_id INTEGER,
  reason TEXT,
  outcome TEXT NOT NULL,
  note TEXT NOT NULL,
  -- The claims table's name in Redrive, for rows about claims.
  claims TEXT,
  claim_key TEXT,
  -- The stored claim time that the operator saw.
  claim_seen TEXT,
  -- JSON: before, after, provider_id, answer.
  claim TEXT
);
INSERT INTO redrive_audit (id, source, at, actor, authenticated, action, job, seen_state,
  seen_state_id, before_state, before_state_id, after_state, after_state_id, reason, outcome, note)
SELECT id, source, at, actor, authenticated, action, job, seen_state,
  seen_state_id, before_state, before_state_id, after_state, after_state_id, reason, outcome, note
FROM redrive_audit_before;
DROP TABLE redrive_audit_before;
CREATE INDEX redrive_audit_source ON redrive_audit (source, id);
CREATE INDEX redrive_audit_job ON redrive_audit (source, job, id);
CREATE INDEX redrive_audit_claim ON redrive_audit (source, claims, claim_key, id)
  WHERE claims IS NOT NULL;
