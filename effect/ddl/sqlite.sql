-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this host's clock.

CREATE TABLE IF NOT EXISTS duly_effects (
    id              BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the business key
    business_key    TEXT    NOT NULL,             -- the same to read; what is not printable ASCII is escaped
    state           TEXT    NOT NULL,             -- started, done, uncertain
    result          TEXT,                         -- JSON, in ASCII
    occurrence      TEXT    NOT NULL,             -- who made it; empty: code that no lease owns
    attempt         INTEGER NOT NULL,
    token           INTEGER NOT NULL,             -- the fencing token, and what it fences
    resource        TEXT    NOT NULL,
    claim           BLOB    NOT NULL,             -- names the call that made, or may finish, the row
    claim_until     INTEGER NOT NULL,             -- external effects: until when nobody else calls
    calls           INTEGER NOT NULL,             -- external effects: calls that may have had it
    idempotency_key TEXT,                         -- external effects: what the provider is given
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    resolved_by     TEXT,                         -- the person who decided what had happened
    resolved_at     INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS duly_effects_occurrence ON duly_effects (occurrence);
CREATE INDEX IF NOT EXISTS duly_effects_created_at ON duly_effects (created_at);

CREATE TABLE IF NOT EXISTS duly_fences (
    id        BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the resource
    resource  TEXT    NOT NULL,
    token     INTEGER NOT NULL,             -- the greatest one seen
    raised_at INTEGER NOT NULL
) WITHOUT ROWID;
