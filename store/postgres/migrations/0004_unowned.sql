-- Schedules that nodes run by themselves while the store is out of reach, and
-- what they did then. It belongs to periods, whether or not there is an
-- occurrence of that name.
ALTER TABLE duly.schedules ADD COLUMN alone boolean; -- true, or NULL
CREATE INDEX schedules_alone ON duly.schedules (id) WHERE alone IS NOT NULL;
CREATE TABLE duly.unowned (
  sid         bigint NOT NULL,
  due         bigint NOT NULL,
  started_at  bigint NOT NULL,
  ended_at    bigint NOT NULL,
  recorded_at bigint NOT NULL,
  exit_code   bigint,
  outcome     smallint NOT NULL,
  node        text COLLATE "C" NOT NULL,
  period      text COLLATE "C" NOT NULL,
  error       text,
  PRIMARY KEY (sid, due, node, started_at)
);
CREATE INDEX unowned_recorded ON duly.unowned (recorded_at);
