-- Duly's effect ledger. It belongs into the application's own database, so that
-- an effect, its business key and the fence are one transaction.
-- Times are microseconds since 1970 in UTC, by this database's clock.

CREATE TABLE IF NOT EXISTS duly_effects (
    id              BINARY(32)   NOT NULL PRIMARY KEY, -- SHA-256 of the business key
    business_key    TEXT         NOT NULL,             -- the same to read; what is not printable ASCII is escaped
    state           VARCHAR(16)  NOT NULL,             -- started, done, uncertain
    result          LONGTEXT,                          -- JSON, in ASCII
    occurrence      VARCHAR(700) NOT NULL,             -- who made it; empty: code that no lease owns
    attempt         INTEGER      NOT NULL,
    token           BIGINT       NOT NULL,             -- the fencing token, and what it fences
    resource        VARCHAR(700) NOT NULL,
    claim           BINARY(16)   NOT NULL,             -- names the call that made, or may finish, the row
    claim_until     BIGINT       NOT NULL,             -- external effects: until when nobody else calls
    calls           INTEGER      NOT NULL,             -- external effects: calls that may have had it
    idempotency_key CHAR(36),                          -- external effects: what the provider is given
    created_at      BIGINT       NOT NULL,
    finished_at     BIGINT,
    resolved_by     VARCHAR(700),                      -- the person who decided what had happened
    resolved_at     BIGINT,
    INDEX duly_effects_occurrence (occurrence),
    INDEX duly_effects_created_at (created_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;

CREATE TABLE IF NOT EXISTS duly_fences (
    id        BINARY(32) NOT NULL PRIMARY KEY, -- SHA-256 of the resource
    resource  TEXT       NOT NULL,
    token     BIGINT     NOT NULL,             -- the greatest one seen
    raised_at BIGINT     NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;
