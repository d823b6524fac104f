-- Effects of which an attempt could not tell whether they have happened.
ALTER TABLE effects ADD COLUMN open INTEGER;
