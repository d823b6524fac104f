-- What is due at one instant is fired queue by queue in turns: a schedule's turn
-- is its number within its queue, and turns.turn the last one given; queue 0 is
-- of all schedules that name none.
CREATE TABLE turns (queue INTEGER PRIMARY KEY, turn INTEGER NOT NULL);
ALTER TABLE schedules ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE schedules SET turn = n.turn
FROM (SELECT sid, row_number() OVER (PARTITION BY queue ORDER BY sid) AS turn FROM schedules) n WHERE n.sid = schedules.sid;
INSERT INTO turns (queue, turn) SELECT coalesce(queue, 0), count(*) FROM schedules GROUP BY 1;
DROP INDEX schedules_due;
CREATE INDEX schedules_due ON schedules (next_due, turn) WHERE next_due IS NOT NULL;
