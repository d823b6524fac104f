-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this database's clock. Names are in
-- printable ASCII; everything else in them is escaped as in Go ("\n", "\x00").

CREATE TABLE IF NOT EXISTS duly_effects (
    business_key    text COLLATE "C" NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    whole_key       text,                                  -- then here as a whole
    state           text   NOT NULL,                       -- started, done, uncertain
    claim           bigint NOT NULL,                       -- names the call that made, or may finish, the row
    -- of a batch: where in it; claim and item >> 5 are its row in duly_batches,
    -- which has result, occurrence, attempt, token, resource and created_at
    item            integer,
    result          text,                                  -- JSON, in ASCII
    occurrence      text,                                  -- who made it; empty: code that no lease owns
    attempt         integer,
    token           bigint,                                -- the fencing token, and what it fences
    resource        text,
    created_at      bigint,
    -- external effects only:
    claim_until     bigint,                                -- until when nobody else calls
    calls           integer,                               -- calls that may have had it
    idempotency_key text,                                  -- what the provider is given
    finished_at     bigint,                                -- when its result was recorded
    resolved_by     text,                                  -- the person who decided what had happened
    resolved_at     bigint
);

-- Effects of a batch, 32 in a row, so that many of them cost little.
CREATE TABLE IF NOT EXISTS duly_batches (
    claim      bigint  NOT NULL,
    part       integer NOT NULL,
    results    text,             -- JSON array, in the order of item; NULL where none are kept
    occurrence text    NOT NULL,
    attempt    integer NOT NULL,
    token      bigint  NOT NULL,
    resource   text    NOT NULL,
    created_at bigint  NOT NULL,
    PRIMARY KEY (claim, part)
);

CREATE TABLE IF NOT EXISTS duly_fences (
    resource  text COLLATE "C" NOT NULL PRIMARY KEY, -- shortened with a SHA-256 where it is long
    token     bigint NOT NULL,                       -- the greatest one seen
    raised_at bigint NOT NULL
);
