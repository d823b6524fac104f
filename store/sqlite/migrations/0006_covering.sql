-- Periods that exist under the name of another one: the identity does not tell.
CREATE INDEX occurrences_covering ON occurrences (sid, due) WHERE covers IS NOT NULL;
