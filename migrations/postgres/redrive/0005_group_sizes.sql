-- How many rows of the index each group has: written with the rows, so that filtered lists and
-- causes are counted by their groups, at any size.
ALTER TABLE redrive.failure_groups ADD COLUMN jobs bigint NOT NULL DEFAULT 0;

-- Nobody changes rows while they are counted.
LOCK TABLE redrive.failures IN SHARE MODE;
UPDATE redrive.failure_groups g SET jobs = n.jobs
FROM (SELECT source, group_id, count(*) AS jobs FROM redrive.failures GROUP BY 1, 2) n
WHERE g.source = n.source AND g.id = n.group_id;
