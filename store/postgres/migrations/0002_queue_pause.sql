-- Who paused a shared queue, until when, and why.
ALTER TABLE duly.queues
  ADD COLUMN paused_at    bigint,
  ADD COLUMN paused_by    text,
  ADD COLUMN paused_why   text,
  ADD COLUMN paused_until bigint;
