-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this database's clock.

CREATE TABLE IF NOT EXISTS duly_effects (
    id              bytea   NOT NULL PRIMARY KEY, -- SHA-256 of the business key
    business_key    text    NOT NULL,             -- the same to read; what is not printable ASCII is escaped
    state           text    NOT NULL,             -- started, done, uncertain
    result          text,                         -- JSON, in ASCII
    occurrence      text    NOT NULL,             -- who made it; empty: code that no lease owns
    attempt         integer NOT NULL,
    token           bigint  NOT NULL,             -- the fencing token, and what it fences
    resource        text    NOT NULL,
    claim           bytea   NOT NULL,             -- names the call that made, or may finish, the row
    claim_until     bigint  NOT NULL,             -- external effects: until when nobody else calls
    calls           integer NOT NULL,             -- external effects: calls that may have had it
    idempotency_key text,                         -- external effects: what the provider is given
    created_at      bigint  NOT NULL,
    finished_at     bigint,
    resolved_by     text,                         -- the person who decided what had happened
    resolved_at     bigint
);
CREATE INDEX IF NOT EXISTS duly_effects_occurrence ON duly_effects (occurrence);
CREATE INDEX IF NOT EXISTS duly_effects_created_at ON duly_effects (created_at);

CREATE TABLE IF NOT EXISTS duly_fences (
    id        bytea  NOT NULL PRIMARY KEY, -- SHA-256 of the resource
    resource  text   NOT NULL,
    token     bigint NOT NULL,             -- the greatest one seen
    raised_at bigint NOT NULL
);
