-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this host's clock. Names are in
-- printable ASCII; everything else in them is escaped as in Go ("\n", "\x00").

CREATE TABLE IF NOT EXISTS duly_effects (
    business_key    TEXT    NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    whole_key       TEXT,                         -- then here as a whole
    state           TEXT    NOT NULL,             -- started, done, uncertain
    claim           INTEGER NOT NULL,             -- names the call that made, or may finish, the row
    -- of a batch: where in it; claim and item >> 5 are its row in duly_batches,
    -- which has result, occurrence, attempt, token, resource and created_at
    item            INTEGER,
    result          TEXT,                         -- JSON, in ASCII
    occurrence      TEXT,                         -- who made it; empty: code that no lease owns
    attempt         INTEGER,
    token           INTEGER,                      -- the fencing token, and what it fences
    resource        TEXT,
    created_at      INTEGER,
    -- external effects only:
    claim_until     INTEGER,                      -- until when nobody else calls
    calls           INTEGER,                      -- calls that may have had it
    idempotency_key TEXT,                         -- what the provider is given
    finished_at     INTEGER,                      -- when its result was recorded
    resolved_by     TEXT,                         -- the person who decided what had happened
    resolved_at     INTEGER
) WITHOUT ROWID;

-- Effects of a batch, 32 in a row, so that many of them cost little.
CREATE TABLE IF NOT EXISTS duly_batches (
    claim      INTEGER NOT NULL,
    part       INTEGER NOT NULL,
    results    TEXT,             -- JSON array, in the order of item; NULL where none are kept
    occurrence TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,
    token      INTEGER NOT NULL,
    resource   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (claim, part)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS duly_fences (
    resource  TEXT    NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    token     INTEGER NOT NULL,             -- the greatest one seen
    raised_at INTEGER NOT NULL
) WITHOUT ROWID;
