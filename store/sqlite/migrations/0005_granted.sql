-- The length of the lease as it was last renewed, where it is not that of the
-- definition: a target that answered 202 may take longer.
ALTER TABLE occurrences ADD COLUMN granted INTEGER;
