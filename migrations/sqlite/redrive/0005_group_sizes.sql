-- How many rows of the index each group has: written with the rows, so that filtered lists and
-- causes are counted by their groups, at any size.
ALTER TABLE redrive_failure_groups ADD COLUMN jobs INTEGER NOT NULL DEFAULT 0;

UPDATE redrive_failure_groups AS g SET jobs = (
  SELECT count(*) FROM redrive_failures f WHERE f.source = g.source AND f.group_id = g.id);
