-- Effects of which an attempt could not tell whether they have happened.
ALTER TABLE duly.effects ADD COLUMN open boolean;
