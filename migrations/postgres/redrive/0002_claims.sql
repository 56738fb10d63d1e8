-- The audit learns of claims. An action on a claim has no state of a job that the operator saw, and
-- may touch no job at all.
ALTER TABLE redrive.audit
    ALTER COLUMN job DROP NOT NULL,
    ALTER COLUMN seen_state DROP NOT NULL,
    ALTER COLUMN seen_state_id DROP NOT NULL,
    -- The claims table's name in Redrive, for rows about claims.
    ADD COLUMN claims text,
    ADD COLUMN claim_key text,
    -- The stored claim time that the operator saw.
    ADD COLUMN claim_seen text,
    -- JSON: before, after, provider_id, answer.
    ADD COLUMN claim text;

-- Keys may be longer than an index entry can be, so they are found by their hash.
CREATE INDEX audit_source_claim ON redrive.audit (source, claims, md5(claim_key), id DESC)
    WHERE claims IS NOT NULL;
