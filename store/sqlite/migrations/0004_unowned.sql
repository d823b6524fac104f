-- Schedules that nodes run by themselves while the store is out of reach, and
-- what they did then. It belongs to periods, whether or not there is an
-- occurrence of that name.
ALTER TABLE schedules ADD COLUMN alone INTEGER; -- 1, or NULL
CREATE INDEX schedules_alone ON schedules (id) WHERE alone IS NOT NULL;
CREATE TABLE unowned (
  sid         INTEGER NOT NULL,
  due         INTEGER NOT NULL,
  node        TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  period      TEXT NOT NULL,
  ended_at    INTEGER NOT NULL,
  outcome     INTEGER NOT NULL,
  exit_code   INTEGER,
  error       TEXT,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (sid, due, node, started_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX unowned_recorded ON unowned (recorded_at);
