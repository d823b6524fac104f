-- Who paused a shared queue, until when, and why.
ALTER TABLE queues ADD COLUMN paused_at INTEGER;
ALTER TABLE queues ADD COLUMN paused_by TEXT;
ALTER TABLE queues ADD COLUMN paused_why TEXT;
ALTER TABLE queues ADD COLUMN paused_until INTEGER;
