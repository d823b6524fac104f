-- How far the clock had come before it was last set back, 0: it never was. What
-- is due up to it may exist although its schedule's cursor lies before it.
ALTER TABLE duly.marks ADD COLUMN ahead bigint NOT NULL DEFAULT 0;
-- Periods that exist under the name of another one: the identity does not tell.
CREATE INDEX occurrences_covering ON duly.occurrences (sid, due) WHERE covers IS NOT NULL;
