-- What is due at one instant is fired queue by queue in turns: a schedule's turn
-- is its number within its queue, and turns.turn the last one given; queue 0 is
-- of all schedules that name none.
CREATE TABLE duly.turns (queue bigint PRIMARY KEY, turn bigint NOT NULL);
ALTER TABLE duly.tracks ADD COLUMN turn bigint NOT NULL DEFAULT 0;
UPDATE duly.tracks t SET turn = n.turn
FROM (SELECT sid, row_number() OVER (PARTITION BY queue ORDER BY sid) AS turn FROM duly.schedules) n WHERE n.sid = t.sid;
INSERT INTO duly.turns (queue, turn) SELECT coalesce(queue, 0), count(*) FROM duly.schedules GROUP BY 1;
DROP INDEX duly.tracks_due;
CREATE INDEX tracks_due ON duly.tracks (next_due, turn) WHERE next_due IS NOT NULL;
