-- Times are microseconds since 1970, UTC. Durations are microseconds.
-- NULL means "none"; booleans are 0 and 1. Codes of states, outcomes, origins
-- and waits are in code.go and never change their meaning.

-- Growing numbers (token, seq), high-water marks and counts, kept in the same
-- transactions as what they count.
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Contents of definitions, without the schedule's ID, so that equal ones share
-- a row. Rows never change.
CREATE TABLE definitions (
  definition INTEGER PRIMARY KEY,
  hash       BLOB NOT NULL UNIQUE,
  content    TEXT NOT NULL
) STRICT;

CREATE TABLE schedules (
  sid           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  owner         TEXT NOT NULL,
  revision      INTEGER NOT NULL,
  revision_from INTEGER NOT NULL,
  definition    INTEGER NOT NULL,
  wants         INTEGER NOT NULL, -- what planning asks for: 1 the waiting occurrences, 2 the running ones
  queue         INTEGER,          -- the shared queue that the newest revision names
  anchor        INTEGER NOT NULL,
  cursor        INTEGER NOT NULL,
  next_due      INTEGER,          -- when to plan next; while paused, when the pause ends
  fired         INTEGER NOT NULL,
  newest        INTEGER,          -- seq of its newest occurrence, the head of the chain
  held          INTEGER,          -- seq of the occurrence that holds the later ones
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  orphaned_at   INTEGER,
  removed_at    INTEGER,
  paused_at     INTEGER,
  paused_by     TEXT,
  paused_why    TEXT,
  paused_until  INTEGER,
  paused_policy TEXT,
  resume_from   INTEGER,
  resume_to     INTEGER,
  resume_by     TEXT,
  resume_policy TEXT
) STRICT;
CREATE INDEX schedules_due ON schedules (next_due) WHERE next_due IS NOT NULL;
CREATE INDEX schedules_queue ON schedules (queue) WHERE queue IS NOT NULL;
CREATE INDEX schedules_owner ON schedules (owner);

CREATE TABLE revisions (
  sid        INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  definition INTEGER NOT NULL,
  from_at    INTEGER NOT NULL,
  by         TEXT NOT NULL,
  PRIMARY KEY (sid, number)
) STRICT, WITHOUT ROWID;

-- When each schedule last succeeded; apart from schedules, because a finish
-- would otherwise rewrite their wider rows.
CREATE TABLE successes (
  sid INTEGER PRIMARY KEY,
  at  INTEGER NOT NULL
) STRICT;

-- What was not run, by schedule and reason.
CREATE TABLE skips (
  sid    INTEGER NOT NULL,
  reason TEXT NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (sid, reason)
) STRICT, WITHOUT ROWID;
CREATE INDEX skips_count ON skips (count);

CREATE TABLE queues (
  queue       INTEGER PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  owner       TEXT,              -- NULL: only named by schedules, never defined
  concurrency INTEGER NOT NULL,
  rate_count  INTEGER NOT NULL,
  rate_per    INTEGER NOT NULL,
  starts      TEXT               -- the last span's starts, see rate.go
) STRICT;

-- A lane is what a claim visits: one capability's occurrences in one shared
-- queue, or in all queues of schedules' own (queue 0). Rows never change.
CREATE TABLE lanes (
  lane       INTEGER PRIMARY KEY,
  capability TEXT NOT NULL,
  queue      INTEGER NOT NULL,
  UNIQUE (capability, queue)
) STRICT;

-- Who makes and runs occurrences, for history, which outlives nodes. Rows
-- never change.
CREATE TABLE makers (
  maker  INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  tzdata TEXT NOT NULL,
  UNIQUE (name, tzdata)
) STRICT;

CREATE TABLE occurrences (
  seq            INTEGER PRIMARY KEY,
  sid            INTEGER NOT NULL,
  period         TEXT NOT NULL,
  due            INTEGER NOT NULL,
  state          INTEGER NOT NULL,
  waiting        INTEGER,          -- while pending, for what
  origin         INTEGER NOT NULL,
  revision       INTEGER NOT NULL,
  definition     INTEGER NOT NULL,
  lane           INTEGER NOT NULL,
  queue          INTEGER,          -- shared queue
  priority       INTEGER NOT NULL,
  lease          INTEGER NOT NULL,
  serial         INTEGER NOT NULL,
  prev           INTEGER,          -- the schedule's occurrence before this one
  interval_start INTEGER,
  not_before     INTEGER,
  start_by       INTEGER,
  maker          INTEGER,
  created_at     INTEGER NOT NULL,
  finished_at    INTEGER,
  -- the newest attempt; it moves to attempts when another one is claimed
  attempt        INTEGER NOT NULL,
  tries          INTEGER NOT NULL,
  token          INTEGER,
  holder         INTEGER,          -- its node, a maker
  started_at     INTEGER,
  lease_until    INTEGER,          -- while running
  ended_at       INTEGER,
  outcome        INTEGER,          -- once ended
  late           INTEGER,
  created        INTEGER,          -- effects
  reused         INTEGER,
  cancelled      TEXT,             -- while running: wanted ended, and why
  -- rarely set
  covers         TEXT,             -- JSON list; NULL: its period alone
  count          INTEGER,          -- NULL: 1
  reason         TEXT,
  payload        TEXT,
  merged_into    TEXT              -- period
) STRICT;
-- Identity. The period comes first so that occurrences made together lie
-- together: a firing of a thousand schedules touches ten pages, not a thousand.
CREATE UNIQUE INDEX occurrences_identity ON occurrences (period, sid);
-- Open ones that may run or do, and open ones that wait for an earlier one.
CREATE INDEX occurrences_front ON occurrences (sid, due, seq) WHERE state < 2 AND waiting IS NOT 3;
CREATE INDEX occurrences_blocked ON occurrences (sid, due, seq) WHERE waiting = 3;
CREATE INDEX occurrences_ready ON occurrences (lane, priority DESC, due, seq) WHERE waiting = 1;
CREATE INDEX occurrences_delayed ON occurrences (not_before) WHERE waiting = 2;
CREATE INDEX occurrences_deadline ON occurrences (start_by) WHERE waiting > 0 AND attempt = 0 AND start_by IS NOT NULL;
CREATE INDEX occurrences_leased ON occurrences (lease_until) WHERE state = 1;
CREATE INDEX occurrences_queued ON occurrences (queue, state) WHERE state < 2 AND queue IS NOT NULL;
CREATE INDEX occurrences_attention ON occurrences (seq) WHERE state > 5;

-- Attempts before the newest one.
CREATE TABLE attempts (
  seq        INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  tries      INTEGER NOT NULL,
  token      INTEGER NOT NULL,
  holder     INTEGER,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  outcome    INTEGER NOT NULL,
  late       INTEGER,
  created    INTEGER,
  reused     INTEGER,
  PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;

-- What attempts said, where they said something.
CREATE TABLE reports (
  seq           INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  exit_code     INTEGER,
  error         TEXT,
  output        TEXT,
  result        TEXT,
  stale_outcome INTEGER,
  stale_at      INTEGER,
  stale_error   TEXT,
  UNIQUE (seq, number)
) STRICT;

-- Effects outlive the occurrences that made them, so they name them by
-- schedule and period. Attempt 0: a later attempt found an effect that no
-- report had told of.
CREATE TABLE effects (
  effect     INTEGER PRIMARY KEY,
  key        TEXT NOT NULL,
  sid        INTEGER NOT NULL,
  period     TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  token      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  reused     INTEGER NOT NULL,
  result     TEXT,
  UNIQUE (key, sid, period, attempt)
) STRICT;
CREATE INDEX effects_occurrence ON effects (sid, period);

-- What requests with an idempotency key made: a JSON list of seqs.
CREATE TABLE once (
  sid        INTEGER NOT NULL,
  key        TEXT NOT NULL,
  made       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (sid, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
  node         INTEGER PRIMARY KEY AUTOINCREMENT,
  maker        INTEGER NOT NULL,
  host         TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  version      TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  slots        INTEGER NOT NULL,
  ttl          INTEGER NOT NULL,
  running      INTEGER NOT NULL,
  clock_offset INTEGER NOT NULL,
  draining     INTEGER NOT NULL,
  joined_at    INTEGER NOT NULL,
  seen_at      INTEGER NOT NULL,
  until        INTEGER NOT NULL,
  ended        INTEGER             -- 1 left, 2 vanished
) STRICT;
CREATE INDEX nodes_live ON nodes (until) WHERE ended IS NULL;

-- The set of definitions that a node carries in its code. Equal sets are one,
-- so a thousand nodes of one version cost a row each and no more.
CREATE TABLE sets (
  declared INTEGER PRIMARY KEY,
  owner    TEXT NOT NULL,
  hash     BLOB NOT NULL UNIQUE
) STRICT;
CREATE TABLE set_members (
  sid        INTEGER NOT NULL,
  declared   INTEGER NOT NULL,
  definition INTEGER NOT NULL,
  PRIMARY KEY (sid, declared)
) STRICT, WITHOUT ROWID;
CREATE INDEX set_members_declared ON set_members (declared);
CREATE TABLE node_sets (
  node     INTEGER NOT NULL,
  owner    TEXT NOT NULL,
  declared INTEGER NOT NULL,
  PRIMARY KEY (node, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_sets_declared ON node_sets (declared);
-- The order in which the store first met a schedule's definitions.
CREATE TABLE met (
  met        INTEGER PRIMARY KEY,
  sid        INTEGER NOT NULL,
  definition INTEGER NOT NULL,
  UNIQUE (sid, definition)
) STRICT;

CREATE TABLE leases (
  name        TEXT PRIMARY KEY,
  owner       TEXT NOT NULL,
  holder      TEXT NOT NULL,
  token       INTEGER NOT NULL,
  acquired_at INTEGER NOT NULL,
  ttl         INTEGER NOT NULL,
  until       INTEGER NOT NULL
) STRICT;
CREATE TABLE waiters (
  place  INTEGER PRIMARY KEY AUTOINCREMENT,
  name   TEXT NOT NULL,
  owner  TEXT NOT NULL,
  holder TEXT NOT NULL,
  wait   INTEGER NOT NULL,
  until  INTEGER NOT NULL,
  UNIQUE (name, owner)
) STRICT;

CREATE TABLE audit (
  row    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  by     TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  why    TEXT,
  before TEXT,
  after  TEXT
) STRICT;
CREATE INDEX audit_object ON audit (object);
