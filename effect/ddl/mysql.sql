-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this database's clock. Names are in
-- printable ASCII; everything else in them is escaped as in Go ("\n", "\x00").

CREATE TABLE IF NOT EXISTS duly_effects (
    business_key    VARCHAR(194) NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    whole_key       TEXT,                              -- then here as a whole
    state           VARCHAR(16)  NOT NULL DEFAULT 'done', -- started, done, uncertain
    claim           BIGINT       NOT NULL,             -- names the call that made, or may finish, the row
    -- of a batch: where in it; claim and item >> 5 are its row in duly_batches,
    -- which has result, occurrence, attempt, token, resource and created_at
    item            INTEGER,
    result          LONGTEXT,                          -- JSON, in ASCII
    occurrence      VARCHAR(700),                      -- who made it; empty: code that no lease owns
    attempt         INTEGER,
    token           BIGINT,                            -- the fencing token, and what it fences
    resource        VARCHAR(700),
    created_at      BIGINT,
    -- external effects only:
    claim_until     BIGINT,                            -- until when nobody else calls
    calls           INTEGER,                           -- calls that may have had it
    idempotency_key CHAR(36),                          -- what the provider is given
    finished_at     BIGINT,                            -- when its result was recorded
    resolved_by     VARCHAR(700),                      -- the person who decided what had happened
    resolved_at     BIGINT
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;

-- Tables of an earlier version have no default.
ALTER TABLE duly_effects ALTER COLUMN state SET DEFAULT 'done';

-- Effects of a batch, 32 in a row, so that many of them cost little.
CREATE TABLE IF NOT EXISTS duly_batches (
    claim      BIGINT       NOT NULL,
    part       INTEGER      NOT NULL,
    results    LONGTEXT,              -- JSON array, in the order of item; NULL where none are kept
    occurrence VARCHAR(700) NOT NULL,
    attempt    INTEGER      NOT NULL,
    token      BIGINT       NOT NULL,
    resource   VARCHAR(700) NOT NULL,
    created_at BIGINT       NOT NULL,
    PRIMARY KEY (claim, part)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;

CREATE TABLE IF NOT EXISTS duly_fences (
    resource  VARCHAR(194) NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    token     BIGINT       NOT NULL,             -- the greatest one seen
    raised_at BIGINT       NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;
