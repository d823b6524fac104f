// Generated from api/openapi.json by "make generate". Do not edit.

export interface paths {
    "/api/v1/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make definitions the ones that an owner holds
         * @description All or nothing: one that is faulty, or that another owner holds, fails them all. A definition equal to the one in force changes nothing.
         */
        post: operations["apply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attempts/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what attempts came to
         * @description One answer for each report, in their order; one that is refused does not harm the rest. What follows (done, another attempt, failed) is decided here, by the schedule's policies. After an outage, report again.
         */
        post: operations["finishAttempts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attempts/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend the leases of running attempts
         * @description One answer for each item, in their order. Renew at a third of the lease, in batches.
         */
        post: operations["renewAttempts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes and who made them
         * @description Newest first.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/callbacks/{seq}/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End an attempt whose target answered 202
         * @description The target of an HTTP attempt was given this address. An empty body means that it succeeded.
         */
        post: operations["endDetachedAttempt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take occurrences to work on
         * @description Each claim is the ownership of an occurrence for one attempt, with a lease and a fencing token greater than every earlier one. With wait, the answer comes as soon as there is work.
         */
        post: operations["claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/declare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say which schedules a live node carries in its code
         * @description In force is the newest definition that a live node still declares. A schedule that a file or a person owns is left alone. A faulty definition is listed in faults and does not keep the others from being declared.
         */
        post: operations["declare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/effects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List effects
         * @description Recorded effects with the occurrence and attempt that made them.
         */
        get: operations["listEffects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/effects/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Note what a person decided about an open effect
         * @description The decision itself is made in the effect ledger, in the application's database, which `duly effects resolve` does first. Here it is put into the audit of effect/KEY, and every uncertain occurrence that waits for the effect goes back to pending, its tries counted anew. Given again it changes nothing more.
         */
        post: operations["resolveEffect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what changes
         * @description Server-sent events; the data of each is an Event. The first is always of topic any: look at everything, then at what events name. They are wake-ups and no more: they may be merged, repeated or lost.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List named leases */
        get: operations["listLeases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leases/{name}/acquire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a named lease
         * @description The fencing token is greater than that of every holder before. Where somebody else holds the lease, the answer is a conflict with that lease in it. Those who wait are served in the order in which they first asked.
         */
        post: operations["acquireLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leases/{name}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a named lease up
         * @description Code not_holder where the owner does not hold it; nothing changes then. The fencing token never starts over.
         */
        post: operations["releaseLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leases/{name}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend a named lease
         * @description Code not_holder where the owner does not hold it any more.
         */
        post: operations["renewLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the sessions of nodes */
        get: operations["listNodes"];
        put?: never;
        /**
         * Open a session
         * @description A worker joins once, then beats three times within the TTL.
         */
        post: operations["joinNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/beat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a session alive
         * @description 404 where it has expired: join again.
         */
        post: operations["beatNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a session */
        post: operations["leaveNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/occurrences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List occurrences
         * @description Newest first, with attempts but without their output.
         */
        get: operations["listOccurrences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/occurrences/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an occurrence with its attempts and effects */
        get: operations["getOccurrence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/occurrences/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End or dismiss an occurrence
         * @description A pending or an ended one is cancelled at once; the owner of a running one is asked to stop.
         */
        post: operations["cancelOccurrence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/occurrences/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what became of an uncertain occurrence
         * @description succeeded: it has happened. pending: it is tried again, its tries counted anew, and finds what the effect ledger knows by now. A conflict where it is not uncertain.
         */
        post: operations["resolveOccurrence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/occurrences/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an ended occurrence back to pending
         * @description Its tries are counted anew. A conflict where its state forbids it.
         */
        post: operations["retryOccurrence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List shared queues, their load and who paused them */
        get: operations["listQueues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a shared queue from handing anything out
         * @description What runs already goes on; schedules go on firing into it. Pausing again replaces why and until. A schedule without a shared queue is paused itself.
         */
        post: operations["pauseQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused queue hand out again */
        post: operations["resumeQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description Definitions with where they stand, by ID.
         */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a schedule */
        get: operations["getSchedule"];
        /**
         * Create or change a schedule
         * @description Makes the definition the one in force, owned by "api". The same one again changes nothing. What came due under the old definition before now is still owed. One that another owner holds is a conflict.
         */
        put: operations["putSchedule"];
        post?: never;
        /**
         * Remove a schedule
         * @description Its open occurrences are cancelled; history stays.
         */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the occurrences of a past range
         * @description Each period is computed from the definition that was in force then.
         */
        post: operations["backfillSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a schedule from firing
         * @description What runs or waits already goes on. Pausing again replaces why and until.
         */
        post: operations["pauseSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused schedule fire again */
        post: operations["resumeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Declare an occurrence that a platform's cron starts
         * @description For external schedules. The caller then claims by the capability in the answer, which hands out this occurrence and no other. Every caller that starts the same period meets the same occurrence; one that has ended without success goes back to pending.
         */
        post: operations["startOccurrence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make an occurrence now
         * @description Asking again with the same due time, period or idempotency key answers with the same occurrence, as it stands by then, and status duplicate.
         */
        post: operations["triggerSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/upcoming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List when a schedule comes due next
         * @description Computed from the definition in force; nothing of it is stored. A time at which nothing will happen (a holiday, a wall time that the clocks jump over) is listed with the reason.
         */
        get: operations["listUpcoming"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See what definitions would change
         * @description Compares the periods of a range under the given definitions with those under the stored ones: which would be added, dropped or moved. Nothing is changed.
         */
        post: operations["simulate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read counts */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description AcquireRequest takes a named lease. */
        AcquireRequest: {
            /** @description holder is for people: host, pid, purpose. */
            holder?: string;
            /** @description owner is the caller's secret, random, 16 to 200 characters. Acquiring again with it renews the lease and keeps the fencing token. */
            owner: string;
            /** @description ttl is the length of the lease, 1s to 24h. Default 30s. */
            ttl?: components["schemas"]["Duration"];
            /** @description wait is how long to wait for the lease, at most 60s; asking again keeps the place among those who wait. Default: answer at once. */
            wait?: components["schemas"]["Duration"];
        };
        /**
         * @description Action is what a change did.
         * @enum {string}
         */
        Action: "create" | "update" | "remove" | "keep" | "ignore";
        /** @description ApplyRequest makes a set of definitions the ones that an owner holds. It is all or nothing. */
        ApplyRequest: {
            /** @description dry_run answers what would change and does nothing. */
            dry_run?: boolean;
            /** @description force takes over what another owner holds; otherwise that is a conflict. */
            force?: boolean;
            /** @description owner keeps them apart from other sets: "file:duly.yaml", "api". */
            owner: string;
            /** @description prune removes every schedule and queue of owner that is not in the request. */
            prune?: boolean;
            queues?: components["schemas"]["Queue"][];
            /** @description remove lists the IDs of schedules to remove. */
            remove?: string[];
            schedules?: components["schemas"]["Schedule"][];
        };
        /** @description Attempt is one try at an occurrence, with its fencing token. */
        Attempt: {
            effects: components["schemas"]["EffectCounts"];
            error?: string;
            /**
             * Format: int64
             * @description exec targets and HTTP statuses
             */
            exit_code?: number;
            /** Format: date-time */
            finished_at?: string;
            /** @description late marks a report accepted after the lease had run out. */
            late?: boolean;
            /**
             * Format: date-time
             * @description while running
             */
            lease_until?: string;
            node: string;
            /** Format: int64 */
            number: number;
            outcome: components["schemas"]["Outcome"];
            /** @description output is what the target printed or answered, bounded. */
            output?: string;
            result?: unknown;
            /** @description stale is a report refused because a newer token had been granted. */
            stale?: components["schemas"]["StaleReport"];
            /** Format: date-time */
            started_at: string;
            /**
             * Format: int64
             * @description token is the fencing token: greater than every token granted before it.
             */
            token: number;
        };
        /** @description AuditRow is a change that somebody made. */
        AuditRow: {
            action: string;
            after?: unknown;
            /** Format: date-time */
            at: string;
            before?: unknown;
            by: string;
            /** @description schedule/ID, queue/NAME, occurrence/ID, effect/KEY */
            object: string;
            /** Format: int64 */
            seq: number;
            why?: string;
        };
        AuditRowList: {
            items: components["schemas"]["AuditRow"][];
            next_cursor?: string;
        };
        /**
         * @description BackfillAction is what a backfill did to one period.
         * @enum {string}
         */
        BackfillAction: "create" | "retry" | "keep";
        /** @description BackfillItem is what happened, or would, to one period. */
        BackfillItem: {
            action: components["schemas"]["BackfillAction"];
            /** Format: date-time */
            due: string;
            id: string;
            /** @description state is what the occurrence was before; empty where there was none. */
            state?: components["schemas"]["State"];
        };
        /** @description BackfillRequest asks for a past range: from <= due < to. */
        BackfillRequest: {
            /** @description dry_run answers what would happen and does nothing. */
            dry_run?: boolean;
            /** Format: date-time */
            from: string;
            rule?: components["schemas"]["BackfillRule"];
            /** Format: date-time */
            to: string;
            why?: string;
        };
        /** @description BackfillResult counts all periods of the range and lists the first ones. */
        BackfillResult: {
            /** Format: int64 */
            created: number;
            items: components["schemas"]["BackfillItem"][];
            /** Format: int64 */
            kept: number;
            /**
             * Format: int64
             * @description omitted counts the periods beyond those in items.
             */
            omitted?: number;
            /** Format: int64 */
            retried: number;
        };
        /**
         * @description BackfillRule says which occurrences of a range a backfill wants.
         * @enum {string}
         */
        BackfillRule: "missing" | "failed" | "all";
        /** @description BeatRequest keeps a session alive. Send it three times within the ttl. */
        BeatRequest: {
            /**
             * Format: int64
             * @description clock_offset_ms is the node's clock minus the store's, in milliseconds.
             */
            clock_offset_ms?: number;
            draining?: boolean;
            /** Format: int64 */
            running?: number;
            /** @description ttl as in JoinRequest. */
            ttl?: components["schemas"]["Duration"];
        };
        /** @description CalendarRule says which days have business and what happens to an occurrence that is due on another. It is self-contained: naming a calendar of a file copies its days here, so that a definition means the same everywhere. */
        CalendarRule: {
            /** @description holidays have no business; workdays do, whatever else is said. */
            holidays?: string[];
            /** @description name is for people. */
            name?: string;
            /**
             * @description otherwise is skip (default; recorded as skipped), next or previous business day.
             * @enum {string}
             */
            otherwise?: "skip" | "next" | "previous";
            /** @description weekdays are the business weekdays, as mon … sun. Default mon-fri. */
            weekdays?: string[];
            workdays?: string[];
        };
        /** @description CallbackRequest ends an attempt whose target answered 202 and went on. */
        CallbackRequest: {
            effects?: components["schemas"]["EffectReport"][];
            /** @description error says in words what went wrong. */
            error?: string;
            /** Format: int64 */
            exit_code?: number;
            /** @description outcome is how it ended. Default succeeded. */
            outcome?: components["schemas"]["Outcome"];
            /** @description output is what the work printed, at most 1 MiB. */
            output?: string;
            /** @description permanent: no further attempt can succeed. */
            permanent?: boolean;
            result?: unknown;
            /** @description retry_after is how long to wait for the next attempt instead of the schedule's backoff. */
            retry_after?: components["schemas"]["Duration"];
        };
        /** @description CatchUp says what happens with times that passed while nothing could fire. */
        CatchUp: {
            /**
             * Format: int64
             * @description max bounds how many, the newest first. 0: no bound.
             */
            max?: number;
            /** @description policy: none (all are missed), latest (default), all, combine (one occurrence that covers them all). */
            policy?: components["schemas"]["CatchUpPolicy"];
            /** @description window bounds how far back. Default 24h. */
            window?: components["schemas"]["Duration"];
        };
        /**
         * @description CatchUpPolicy is the policy of CatchUp and of a resume after a pause.
         * @enum {string}
         */
        CatchUpPolicy: "none" | "latest" | "all" | "combine";
        /** @description Change is what happened, or would, to one schedule or queue. */
        Change: {
            action: components["schemas"]["Action"];
            after?: unknown;
            /** @description before and after are the definitions as JSON, where they exist. */
            before?: unknown;
            id: string;
            /** @description schedule or queue */
            kind: string;
            /** Format: date-time */
            next_due?: string;
            reason?: string;
            /** Format: int64 */
            revision?: number;
        };
        /** @description changes lists what changed, or would, in the order of the request. */
        Changes: {
            changes: components["schemas"]["Change"][];
        };
        /** @description Claim is the ownership of an occurrence for one attempt, with all that a target is told. seq and token name it in renewals and reports. */
        Claim: {
            /**
             * Format: int64
             * @description 1, 2, 3 …
             */
            attempt: number;
            /** @description covers lists the periods that the work is for. */
            covers: string[];
            /** Format: date-time */
            due: string;
            /** @description fencing_resource is what token guards: a destination that has seen a greater token for it must refuse this one. */
            fencing_resource: string;
            /** @description idempotency_key is the same for every attempt at the occurrence. */
            idempotency_key: string;
            /**
             * Format: date-time
             * @description interval_start is when the schedule was due before: the work's data lies in interval_start <= t < due.
             */
            interval_start?: string;
            /** @description lease is the length of ownership. Count it on a monotonic clock, from before you asked and what the request waited since; renew at a third of it. */
            lease: components["schemas"]["Duration"];
            /**
             * Format: date-time
             * @description by the store's clock
             */
            lease_until: string;
            /** @description schedule@period */
            occurrence: string;
            origin: components["schemas"]["Origin"];
            payload?: unknown;
            period: string;
            queue?: string;
            /** Format: int64 */
            revision: number;
            schedule: string;
            /** Format: int64 */
            seq: number;
            target: components["schemas"]["Target"];
            /** @description timeout ends an attempt that takes longer. Empty: no limit. */
            timeout?: components["schemas"]["Duration"];
            /**
             * Format: int64
             * @description the fencing token
             */
            token: number;
            /**
             * Format: int64
             * @description tries is how many attempts count against the limit, with this one.
             */
            tries: number;
        };
        /** @description ClaimRequest asks for work. */
        ClaimRequest: {
            /** @description capabilities say what may be handed out: "handler:NAME", "exec", "http". */
            capabilities: string[];
            /**
             * Format: int64
             * @description max is how many occurrences to take at most, up to 1000. Default 1.
             */
            max?: number;
            /**
             * Format: int64
             * @description of JoinResult
             */
            node: number;
            /** @description wait is how long to wait for work where there is none, at most 60s. Default: answer at once. */
            wait?: components["schemas"]["Duration"];
        };
        /** @description ClaimResult is work; none is an empty list. */
        ClaimResult: {
            claims: components["schemas"]["Claim"][];
            /**
             * Format: date-time
             * @description now is the store's clock.
             */
            now: string;
            /** @description waited is how long the request had waited when this work was claimed. */
            waited?: components["schemas"]["Duration"];
        };
        /** @description DST chooses what clock changes do to a schedule that names wall times. Its zero value is { gap: next, overlap: first }. */
        DST: {
            /**
             * @description gap is for a wall time that does not exist: next (the first instant after the gap), shift (later by the gap's length), skip.
             * @enum {string}
             */
            gap?: "next" | "shift" | "skip";
            /**
             * @description overlap is for a wall time that comes twice: first, last, both.
             * @enum {string}
             */
            overlap?: "first" | "last" | "both";
        };
        /** @description DeclareRequest says which schedules a live node carries in its code. */
        DeclareRequest: {
            /** @description app is the application; nodes with the same one share its schedules. */
            app: string;
            /** Format: int64 */
            node: number;
            schedules: components["schemas"]["Schedule"][];
        };
        /** @description DeclareResult says what came of each definition. A faulty one is left out and listed in faults; it never keeps the others from being declared. */
        DeclareResult: {
            changes: components["schemas"]["Change"][];
            faults?: components["schemas"]["DefinitionFault"][];
        };
        /** @description DefinitionFault is what is wrong with one field of a definition. */
        DefinitionFault: {
            field?: string;
            message: string;
            schedule: string;
        };
        /**
         * @description Duration is a length of time that people write as "90s", "15m", "36h", "7d" or "2w". A day is 24 hours and a week seven days: a duration measures elapsed time, never calendar days.
         * @example 15m
         */
        Duration: string;
        /** @description Effect is one recorded effect of an occurrence. */
        Effect: {
            /**
             * Format: int64
             * @description attempt and token say which attempt made it. They are 0 where that one died before it could tell, and whoever found the effect does not know.
             */
            attempt: number;
            /** Format: date-time */
            created_at: string;
            key: string;
            /** @description open: the attempt could not tell whether it has happened. */
            open?: boolean;
            result?: unknown;
            /** Format: int64 */
            token: number;
        };
        /** @description EffectCounts says what an attempt's effects were. */
        EffectCounts: {
            /** Format: int64 */
            created: number;
            /** Format: int64 */
            reused: number;
        };
        /** @description EffectMaker is the attempt that made an effect, as the ledger has it. */
        EffectMaker: {
            /** Format: int64 */
            attempt: number;
            /** Format: date-time */
            created_at?: string;
            occurrence: string;
            /** Format: int64 */
            token: number;
        };
        /** @description EffectReport is what an attempt tells of an effect: it caused it, found that it had happened (reused), or cannot tell (open). */
        EffectReport: {
            key: string;
            /** @description maker is who made a reused effect, where that is known. */
            maker?: components["schemas"]["EffectMaker"];
            /** @description open: it is at a provider and may or may not have happened. An occurrence with such an effect does not end as failed but as uncertain. What a later attempt tells of the same key closes it. */
            open?: boolean;
            result?: unknown;
            reused?: boolean;
        };
        /** @description EffectStatus is an effect with the occurrence that made it. */
        EffectStatus: {
            /**
             * Format: int64
             * @description attempt and token say which attempt made it. They are 0 where that one died before it could tell, and whoever found the effect does not know.
             */
            attempt: number;
            /** Format: date-time */
            created_at: string;
            key: string;
            occurrence: string;
            /** @description open: the attempt could not tell whether it has happened. */
            open?: boolean;
            result?: unknown;
            /**
             * Format: int64
             * @description how often later attempts found it
             */
            reused: number;
            /** Format: int64 */
            token: number;
        };
        EffectStatusList: {
            items: components["schemas"]["EffectStatus"][];
            next_cursor?: string;
        };
        /**
         * @description Code classifies an error so that every surface can answer it the same way: one table maps codes to HTTP statuses and one to exit codes.
         * @enum {string}
         */
        ErrorCode: "invalid" | "not_found" | "conflict" | "not_holder" | "stale_token" | "unavailable" | "uncertain" | "internal";
        /** @description Event says that something of a kind changed. An empty schedule means that more than one, or an unknown one, is meant. */
        Event: {
            schedule?: string;
            topic: components["schemas"]["Topic"];
        };
        /** @description Exclusion is a time at which a schedule is not due. Either a Timing (the instants themselves, or windows of length for that begin there), or a window from <= t < to, or local dates. */
        Exclusion: {
            /**
             * Format: date-time
             * @description anchor belongs to every. Default: when the store first met the schedule.
             */
            anchor?: string;
            /** @description at is one instant: RFC 3339, or local time in the schedule's zone ("2026-11-28T09:00"). */
            at?: string;
            /** @description cron is an expression of package cron, in the schedule's zone. */
            cron?: string;
            /** @description YYYY-MM-DD */
            dates?: string[];
            /** @description every is an interval of elapsed time, at least 1s, counted from anchor. */
            every?: components["schemas"]["Duration"];
            for?: components["schemas"]["Duration"];
            /** @description as Timing.At */
            from?: string;
            note?: string;
            /** @description rrule is a recurrence rule of RFC 5545, with or without a DTSTART line; without one, it starts at the schedule's Start. */
            rrule?: string;
            to?: string;
        };
        /** @description ExecTarget runs a command on a node that serves the store. */
        ExecTarget: {
            /** @description command is the program and its arguments; no shell is involved. */
            command: string[];
            dir?: string;
            env?: {
                [key: string]: string;
            };
            /** @description kill_after is the time between SIGTERM and SIGKILL. Default 10s. */
            kill_after?: components["schemas"]["Duration"];
            /**
             * Format: int64
             * @description output_limit is how many bytes of output are kept with the attempt: the first and the last half of it. Default 64 KiB, at most 1 MiB.
             */
            output_limit?: number;
        };
        /** @description FinishRequest reports what attempts came to. */
        FinishRequest: {
            /** Format: int64 */
            node: number;
            reports: components["schemas"]["Report"][];
        };
        /** @description FinishResult answers a FinishRequest report by report, in its order. */
        FinishResult: {
            results: components["schemas"]["Finished"][];
        };
        /** @description Finished is the answer to a Report. */
        Finished: {
            /** @description error is set where the report was refused: stale_token (a newer attempt owns the occurrence; the report is kept beside its attempt) or not_found. */
            error?: components["schemas"]["ItemError"];
            /** @description late: accepted although the lease had run out. */
            late?: boolean;
            occurrence?: string;
            /** @description of the occurrence now */
            state?: components["schemas"]["State"];
        };
        /** @description HTTPTarget sends a request. */
        HTTPTarget: {
            headers?: {
                [key: string]: string;
            };
            /** @description default POST */
            method?: string;
            /**
             * Format: int64
             * @description response_limit bounds the bytes of a response that are kept. Default 64 KiB.
             */
            response_limit?: number;
            /** @description secret signs requests by the Standard Webhooks scheme ("whsec_…"). */
            secret?: string;
            url: string;
        };
        /** @description ItemError is why one item of a batch was refused. */
        ItemError: {
            code: components["schemas"]["ErrorCode"];
            field?: string;
            message: string;
        };
        /** @description JoinRequest opens a session. */
        JoinRequest: {
            /** @description capabilities say what the node can do: "handler:NAME", "exec", "http". */
            capabilities?: string[];
            host?: string;
            /** @description name is for people; unique among live nodes. */
            name: string;
            /** Format: int64 */
            pid?: number;
            /**
             * Format: int64
             * @description slots is how many occurrences it works on at once.
             */
            slots?: number;
            /** @description ttl is how long the node may be silent before it counts as gone, 5s to 1h. Default 15s. */
            ttl?: components["schemas"]["Duration"];
            tzdata?: string;
            version?: string;
        };
        /** @description JoinResult is a session. */
        JoinResult: {
            /** Format: int64 */
            node: number;
            ttl: components["schemas"]["Duration"];
        };
        /** @description LastOccurrence is a short form. */
        LastOccurrence: {
            /** Format: date-time */
            due: string;
            id: string;
            state: components["schemas"]["State"];
        };
        /** @description Lease is time-limited ownership of a name. */
        Lease: {
            /** Format: date-time */
            acquired_at: string;
            holder: string;
            name: string;
            /** @description owner is the holder's secret; empty where the reader is not the holder. */
            owner?: string;
            /**
             * Format: int64
             * @description token is the fencing token: greater than that of every lease before it.
             */
            token: number;
            /** Format: date-time */
            until: string;
            /** Format: int64 */
            waiters?: number;
        };
        LeaseList: {
            items: components["schemas"]["Lease"][];
            next_cursor?: string;
        };
        /** @description Node is a session of a process that takes part. */
        Node: {
            capabilities: string[];
            /**
             * Format: int64
             * @description clock_offset_ms is the node's clock minus the store's, in milliseconds.
             */
            clock_offset_ms: number;
            draining?: boolean;
            host: string;
            /** Format: int64 */
            id: number;
            /** Format: date-time */
            joined_at: string;
            name: string;
            /** Format: int64 */
            pid: number;
            /** Format: int64 */
            running: number;
            /** Format: date-time */
            seen_at: string;
            /**
             * Format: int64
             * @description occurrences it works on at once
             */
            slots: number;
            /** @description state is live, left or gone (vanished). */
            state: components["schemas"]["NodeState"];
            tzdata: string;
            /** Format: date-time */
            until: string;
            version: string;
        };
        NodeList: {
            items: components["schemas"]["Node"][];
            next_cursor?: string;
        };
        /**
         * @description NodeState is where a session is in its life.
         * @enum {string}
         */
        NodeState: "live" | "left" | "gone";
        /** @description Occurrence is one piece of work that a schedule owes: its identity is schedule@period. */
        Occurrence: {
            attempts: components["schemas"]["Attempt"][];
            /**
             * Format: int64
             * @description count is the number of periods that a missed or skipped row stands for; 1 for everything else.
             */
            count: number;
            /** @description covers lists the periods the work is for: its own, and those merged into it. */
            covers: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            due: string;
            effects: components["schemas"]["Effect"][];
            /** Format: date-time */
            finished_at?: string;
            /** @description fired_by names the node that made it and tzdata the zone data it used. */
            fired_by?: string;
            id: string;
            /**
             * Format: date-time
             * @description interval_start is when the schedule was due before: the work's data lies in interval_start <= t < due. Zero where there is no such time.
             */
            interval_start?: string;
            merged_into?: string;
            /**
             * Format: date-time
             * @description not_before is when a pending occurrence may start (jitter, retry).
             */
            not_before?: string;
            origin: components["schemas"]["Origin"];
            period: string;
            /** Format: int64 */
            priority?: number;
            queue?: string;
            /** @description reason says in words why the state is what it is. */
            reason?: string;
            /** Format: int64 */
            revision: number;
            schedule: string;
            /**
             * Format: int64
             * @description seq is the store's own number for the occurrence, growing in the order of creation. Renewals and reports name an occurrence by it.
             */
            seq: number;
            /**
             * Format: date-time
             * @description start_by is when a pending occurrence that never started becomes missed.
             */
            start_by?: string;
            state: components["schemas"]["State"];
            tzdata?: string;
            /** @description unowned are the tries that nodes made by themselves while they could not reach the store (when_unavailable: run). They are no attempts, and changed nothing of the state. Not in lists. */
            unowned?: components["schemas"]["Unowned"][];
            /** @description while pending: for what */
            waiting?: components["schemas"]["Waiting"];
        };
        OccurrenceList: {
            items: components["schemas"]["Occurrence"][];
            next_cursor?: string;
        };
        /**
         * @description OnFailure says whether later periods wait for a failed one.
         * @enum {string}
         */
        OnFailure: "continue" | "hold";
        /**
         * @description Origin says what made an occurrence.
         * @enum {string}
         */
        Origin: "schedule" | "catch_up" | "trigger" | "backfill" | "external";
        /**
         * @description Outcome is how an attempt ended.
         * @enum {string}
         */
        Outcome: "running" | "lost" | "succeeded" | "failed" | "timed_out" | "cancelled" | "released" | "uncertain";
        /**
         * @description Overlap says what happens when an occurrence comes due while an earlier one of its schedule is unfinished.
         * @enum {string}
         */
        Overlap: "wait" | "skip" | "combine" | "allow" | "replace";
        /** @description PauseQueueRequest stops a shared queue from handing anything out. */
        PauseQueueRequest: {
            /**
             * Format: date-time
             * @description until is when it goes on by itself. Default: when it is resumed.
             */
            until?: string;
            why?: string;
        };
        /** @description PauseRequest stops a schedule from firing. */
        PauseRequest: {
            /** @description policy says what happens to what came due meanwhile, when until passes. Default: the schedule's own catch-up policy. */
            policy?: components["schemas"]["CatchUpPolicy"];
            /**
             * Format: date-time
             * @description until is when it goes on by itself. Default: when it is resumed.
             */
            until?: string;
            why?: string;
        };
        /** @description PauseStatus says who paused a schedule or a queue, why and until when. */
        PauseStatus: {
            /** Format: date-time */
            at: string;
            by: string;
            /** @description policy is for what came due of a schedule meanwhile. */
            policy?: components["schemas"]["CatchUpPolicy"];
            /** Format: date-time */
            until?: string;
            why?: string;
        };
        /** @description PeriodChange is a period that a new definition adds, drops or moves. */
        PeriodChange: {
            /** Format: date-time */
            after?: string;
            after_local?: string;
            /**
             * Format: date-time
             * @description before and after are when the period is due under the stored and under the given definition; one that is missing means not at all.
             */
            before?: string;
            before_local?: string;
            /** @description note marks what is special about the day: a clock change, a holiday. */
            note?: string;
            period: string;
        };
        /**
         * @description PeriodUnit is the unit of business periods.
         * @enum {string}
         */
        PeriodUnit: "instant" | "hour" | "day" | "week" | "month";
        /** @description Problem is the body of every error answer (RFC 9457). */
        Problem: {
            /** @description code says what kind of error it is; programs decide by it. */
            code: components["schemas"]["ErrorCode"];
            /** @description detail says what is wrong and what to do about it. */
            detail: string;
            /** @description errors lists the fields that are to blame. */
            errors?: components["schemas"]["ProblemError"][];
            /** @description lease is, where a lease could not be had, the one that is in the way. */
            lease?: components["schemas"]["Lease"];
            /** @description request_id finds the request in the server's log. */
            request_id?: string;
            /** Format: int64 */
            status: number;
            title: string;
            type: string;
        };
        /** @description ProblemError is what is wrong with one field of a request. */
        ProblemError: {
            /** @description location is the field: body.schedules0.timezone, query.limit. */
            location?: string;
            message: string;
        };
        /** @description Queue is where occurrences wait, with a concurrency that holds across all nodes. */
        Queue: {
            /**
             * Format: int64
             * @description concurrency is how many occurrences may run at once, on all nodes together. Default 1.
             */
            concurrency?: number;
            name?: string;
            /** @description rate bounds how many may start in each span of Per. Zero: no bound. */
            rate?: components["schemas"]["Rate"];
        };
        /** @description QueueStatus is a shared queue and its load. */
        QueueStatus: {
            /**
             * Format: int64
             * @description concurrency is how many occurrences may run at once, on all nodes together. Default 1.
             */
            concurrency?: number;
            name?: string;
            paused?: components["schemas"]["PauseStatus"];
            /** Format: int64 */
            pending: number;
            /** @description rate bounds how many may start in each span of Per. Zero: no bound. */
            rate?: components["schemas"]["Rate"];
            /** Format: int64 */
            running: number;
        };
        QueueStatusList: {
            items: components["schemas"]["QueueStatus"][];
            next_cursor?: string;
        };
        /** @description Rate is a number of starts for a span of time. */
        Rate: {
            /** Format: int64 */
            count?: number;
            per?: components["schemas"]["Duration"];
        };
        /** @description ReleaseLeaseRequest gives a named lease up. */
        ReleaseLeaseRequest: {
            owner: string;
        };
        /** @description RenewLeaseRequest extends a named lease. */
        RenewLeaseRequest: {
            owner: string;
            /** @description ttl as in AcquireRequest. */
            ttl?: components["schemas"]["Duration"];
        };
        /** @description RenewRequest extends leases. */
        RenewRequest: {
            items: components["schemas"]["Renewal"][];
            /** Format: int64 */
            node: number;
        };
        /** @description RenewResult answers a RenewRequest item by item, in its order. */
        RenewResult: {
            results: components["schemas"]["Renewed"][];
        };
        /** @description Renewal asks for one lease to be extended. */
        Renewal: {
            /** @description lease is counted from the store's now, 1s to 24h. */
            lease: components["schemas"]["Duration"];
            /** Format: int64 */
            seq: number;
            /** Format: int64 */
            token: number;
        };
        /** @description Renewed is the answer to a Renewal. */
        Renewed: {
            /** @description cancelled: still owned, but wanted ended; report cancelled when it has. */
            cancelled?: boolean;
            /** @description lost: no longer owned; stop at once. */
            lost?: boolean;
            reason?: string;
            /** Format: date-time */
            until?: string;
        };
        /** @description Report is what a worker says of an attempt. Reporting again the same way is answered the same way. */
        Report: {
            effects?: components["schemas"]["EffectReport"][];
            /** @description error says in words what went wrong. */
            error?: string;
            /** Format: int64 */
            exit_code?: number;
            outcome: components["schemas"]["Outcome"];
            /** @description output is what the work printed, at most 1 MiB. */
            output?: string;
            /** @description permanent: no further attempt can succeed. */
            permanent?: boolean;
            result?: unknown;
            /** @description retry_after is how long to wait for the next attempt instead of the schedule's backoff. */
            retry_after?: components["schemas"]["Duration"];
            /** Format: int64 */
            seq: number;
            /** Format: int64 */
            token: number;
        };
        /** @description ResolveEffectRequest tells of a decision that a person made in the effect ledger. */
        ResolveEffectRequest: {
            after: unknown;
            /** @description before and after are the effect as the ledger had and has it. */
            before?: unknown;
            key: string;
            /** @description occurrences lists more that wait for it, as the ledger knows, at most 1000. */
            occurrences?: string[];
            why?: string;
        };
        /** @description ResolveEffectResult says what follows from the decision. */
        ResolveEffectResult: {
            /** @description occurrences lists those that went back to pending. */
            occurrences: string[];
        };
        /** @description ResolveRequest says what became of an uncertain occurrence. */
        ResolveRequest: {
            /** @description to is succeeded (it has happened) or pending (try again). */
            to: components["schemas"]["State"];
            why?: string;
        };
        /** @description ResumeRequest lets a paused schedule fire again. */
        ResumeRequest: {
            /** @description policy says what happens to what came due meanwhile. Default: the schedule's own catch-up policy. */
            policy?: components["schemas"]["CatchUpPolicy"];
        };
        /** @description Retry says how failed and lost attempts are repeated. backoff doubles with every attempt up to max_backoff and carries full jitter. */
        Retry: {
            /** @description default 10s */
            backoff?: components["schemas"]["Duration"];
            /**
             * Format: int64
             * @description default 5; 1 means no retry
             */
            max_attempts?: number;
            /** @description default 10m */
            max_backoff?: components["schemas"]["Duration"];
        };
        /** @description Schedule is the definition of recurring work: when it is due, for which period, under which policies, and what an attempt does. It is plain data; package timing turns its timings into instants and package plan its policies into decisions. A zero field means its default, so a definition stays as short as its author wrote it. */
        Schedule: {
            /**
             * Format: date-time
             * @description anchor belongs to every. Default: when the store first met the schedule.
             */
            anchor?: string;
            /** @description at is one instant: RFC 3339, or local time in the schedule's zone ("2026-11-28T09:00"). */
            at?: string;
            /** @description calendar moves or skips what is due on a day without business. */
            calendar?: components["schemas"]["CalendarRule"];
            catch_up?: components["schemas"]["CatchUp"];
            /** @description cron is an expression of package cron, in the schedule's zone. */
            cron?: string;
            description?: string;
            dst?: components["schemas"]["DST"];
            /** Format: date-time */
            end?: string;
            /** @description every is an interval of elapsed time, at least 1s, counted from anchor. */
            every?: components["schemas"]["Duration"];
            /** @description except lists instants and windows at which the schedule is not due at all. */
            except?: components["schemas"]["Exclusion"][];
            /** @description external leaves the timing to a platform (Kubernetes CronJob, crontab, systemd): occurrences are made by `duly exec` alone. */
            external?: boolean;
            /** @description id is the stable name: 1 to 200 letters, digits, '.', '_', '-', '/' and ':'. It never changes; a renamed schedule is a new one. */
            id?: string;
            /** @description jitter spreads starts over this long after due. It is the same for every node and never changes an occurrence's identity. Default 0. */
            jitter?: components["schemas"]["Duration"];
            /** @description lease is how long ownership lasts between renewals. Default 30s. */
            lease?: components["schemas"]["Duration"];
            /**
             * Format: int64
             * @description limit is the number of occurrences after which the schedule is over. 0: no limit.
             */
            limit?: number;
            on_failure?: components["schemas"]["OnFailure"];
            overlap?: components["schemas"]["Overlap"];
            /** @description payload is any JSON value, handed to the target as it is. */
            payload?: unknown;
            /** @description period is the unit of the business period that names an occurrence. Default day where the schedule can be due at most once a local day, otherwise instant. */
            period?: components["schemas"]["PeriodUnit"];
            /**
             * Format: int64
             * @description period_offset moves the period from the due instant's: -1 says that last night's run is for yesterday.
             */
            period_offset?: number;
            /**
             * Format: int64
             * @description priority orders occurrences within a queue: higher first. -100 to 100, default 0.
             */
            priority?: number;
            /** @description queue names a shared queue. Empty: a queue of the schedule's own with concurrency 1 (without limit where overlap is allow). */
            queue?: string;
            retry?: components["schemas"]["Retry"];
            /** @description rrule is a recurrence rule of RFC 5545, with or without a DTSTART line; without one, it starts at the schedule's Start. */
            rrule?: string;
            /**
             * Format: date-time
             * @description start and end bound the due instants: start <= due < end.
             */
            start?: string;
            /** @description start_deadline is how long after due an attempt may still start first; later the occurrence is missed. 0: no deadline. */
            start_deadline?: components["schemas"]["Duration"];
            target?: components["schemas"]["Target"];
            /** @description timeout ends an attempt that runs longer. 0: no limit. */
            timeout?: components["schemas"]["Duration"];
            /** @description timezone is an IANA name. Default UTC. */
            timezone?: string;
            timings?: components["schemas"]["Timing"][];
            /** @description when_unavailable says what a node does while coordination is down. Default wait. */
            when_unavailable?: components["schemas"]["WhenUnavailable"];
        };
        /** @description ScheduleStatus is a definition with where it stands. */
        ScheduleStatus: {
            /**
             * Format: date-time
             * @description anchor belongs to every. Default: when the store first met the schedule.
             */
            anchor?: string;
            /** Format: date-time */
            anchor_at: string;
            /** @description at is one instant: RFC 3339, or local time in the schedule's zone ("2026-11-28T09:00"). */
            at?: string;
            /** @description calendar moves or skips what is due on a day without business. */
            calendar?: components["schemas"]["CalendarRule"];
            catch_up?: components["schemas"]["CatchUp"];
            /** Format: date-time */
            created_at: string;
            /** @description cron is an expression of package cron, in the schedule's zone. */
            cron?: string;
            description?: string;
            dst?: components["schemas"]["DST"];
            /** Format: date-time */
            end?: string;
            /** @description every is an interval of elapsed time, at least 1s, counted from anchor. */
            every?: components["schemas"]["Duration"];
            /** @description except lists instants and windows at which the schedule is not due at all. */
            except?: components["schemas"]["Exclusion"][];
            /** @description external leaves the timing to a platform (Kubernetes CronJob, crontab, systemd): occurrences are made by `duly exec` alone. */
            external?: boolean;
            /** Format: int64 */
            fired: number;
            /** @description id is the stable name: 1 to 200 letters, digits, '.', '_', '-', '/' and ':'. It never changes; a renamed schedule is a new one. */
            id?: string;
            /** @description jitter spreads starts over this long after due. It is the same for every node and never changes an occurrence's identity. Default 0. */
            jitter?: components["schemas"]["Duration"];
            /** @description last is the newest occurrence, last_success when one last succeeded. */
            last?: components["schemas"]["LastOccurrence"];
            /** Format: date-time */
            last_success?: string;
            /** @description lease is how long ownership lasts between renewals. Default 30s. */
            lease?: components["schemas"]["Duration"];
            /**
             * Format: int64
             * @description limit is the number of occurrences after which the schedule is over. 0: no limit.
             */
            limit?: number;
            /** Format: date-time */
            next_due?: string;
            on_failure?: components["schemas"]["OnFailure"];
            orphaned?: boolean;
            /**
             * Format: date-time
             * @description orphaned_at is when the last node that declared it was gone.
             */
            orphaned_at?: string;
            overlap?: components["schemas"]["Overlap"];
            owner: string;
            paused?: components["schemas"]["PauseStatus"];
            /** @description payload is any JSON value, handed to the target as it is. */
            payload?: unknown;
            /** @description period is the unit of the business period that names an occurrence. Default day where the schedule can be due at most once a local day, otherwise instant. */
            period?: components["schemas"]["PeriodUnit"];
            /**
             * Format: int64
             * @description period_offset moves the period from the due instant's: -1 says that last night's run is for yesterday.
             */
            period_offset?: number;
            /** Format: date-time */
            planned_to: string;
            /**
             * Format: int64
             * @description priority orders occurrences within a queue: higher first. -100 to 100, default 0.
             */
            priority?: number;
            /** @description queue names a shared queue. Empty: a queue of the schedule's own with concurrency 1 (without limit where overlap is allow). */
            queue?: string;
            retry?: components["schemas"]["Retry"];
            /** Format: int64 */
            revision: number;
            /** @description rrule is a recurrence rule of RFC 5545, with or without a DTSTART line; without one, it starts at the schedule's Start. */
            rrule?: string;
            /**
             * Format: date-time
             * @description start and end bound the due instants: start <= due < end.
             */
            start?: string;
            /** @description start_deadline is how long after due an attempt may still start first; later the occurrence is missed. 0: no deadline. */
            start_deadline?: components["schemas"]["Duration"];
            target?: components["schemas"]["Target"];
            /** @description timeout ends an attempt that runs longer. 0: no limit. */
            timeout?: components["schemas"]["Duration"];
            /** @description timezone is an IANA name. Default UTC. */
            timezone?: string;
            timings?: components["schemas"]["Timing"][];
            /** Format: date-time */
            updated_at: string;
            /** @description when_unavailable says what a node does while coordination is down. Default wait. */
            when_unavailable?: components["schemas"]["WhenUnavailable"];
        };
        ScheduleStatusList: {
            items: components["schemas"]["ScheduleStatus"][];
            next_cursor?: string;
        };
        /** @description SimulateRequest asks what definitions would do to a range of time, compared with those that are stored. Nothing is changed. */
        SimulateRequest: {
            /**
             * Format: date-time
             * @description from <= due < to. Default: a year from now on.
             */
            from?: string;
            schedules: components["schemas"]["Schedule"][];
            /** Format: date-time */
            to?: string;
        };
        /** @description SimulateResult says what definitions would do. */
        SimulateResult: {
            /** Format: date-time */
            from: string;
            schedules: components["schemas"]["Simulation"][];
            /** Format: date-time */
            to: string;
        };
        /** @description Simulation is what a new definition would do to the periods of a schedule. */
        Simulation: {
            /** @description create, update or keep */
            action: components["schemas"]["Action"];
            /**
             * Format: int64
             * @description added, dropped and moved count the periods that differ.
             */
            added: number;
            /** Format: int64 */
            after: number;
            /**
             * Format: int64
             * @description before and after count the periods of the range under the stored and under the given definition.
             */
            before: number;
            /** Format: int64 */
            dropped: number;
            id: string;
            /** Format: int64 */
            moved: number;
            /**
             * Format: int64
             * @description omitted counts the ones beyond.
             */
            omitted?: number;
            /** @description periods lists the first of those, in order of time. */
            periods: components["schemas"]["PeriodChange"][];
            /**
             * Format: date-time
             * @description to is how far the schedule was compared: less than asked for where it has very many periods.
             */
            to: string;
        };
        /** @description SkipCount counts the periods of a schedule that were not run, for a reason. */
        SkipCount: {
            /** Format: int64 */
            count: number;
            reason: string;
            schedule: string;
        };
        /** @description StaleReport is what a worker said after it had lost its ownership. It changed nothing. */
        StaleReport: {
            /** Format: date-time */
            at: string;
            error?: string;
            outcome: components["schemas"]["Outcome"];
        };
        /** @description StartRequest declares an occurrence that a platform's cron starts. */
        StartRequest: {
            /** @description define is the definition to be made where the schedule does not exist yet; it must be external. */
            define?: components["schemas"]["Schedule"];
            /** Format: date-time */
            due?: string;
            /** @description period asks for the occurrence of that business period, due for the one that is due at that instant. Neither: due now. */
            period?: string;
        };
        /** @description StartResult is the occurrence and how to claim it. */
        StartResult: {
            /** @description capability hands out this occurrence and no other. */
            capability: string;
            occurrence: components["schemas"]["Occurrence"];
        };
        /**
         * @description State is where an occurrence is in its life.
         * @enum {string}
         */
        State: "pending" | "running" | "succeeded" | "failed" | "uncertain" | "skipped" | "merged" | "missed" | "cancelled";
        /** @description Stats are counts as of now. */
        Stats: {
            /**
             * Format: int64
             * @description attention counts failed, uncertain and missed occurrences that nobody has dealt with.
             */
            attention: number;
            /**
             * Format: int64
             * @description live
             */
            nodes: number;
            /** Format: date-time */
            now: string;
            /** @description occurrences counts by state since the store was made, trimmed ones too, and skips counts skipped and missed periods by reason. */
            occurrences: {
                [key: string]: number;
            };
            /** Format: int64 */
            paused: number;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            running: number;
            /** Format: int64 */
            schedules: number;
            skips: components["schemas"]["SkipCount"][];
        };
        /** @description Target is what an attempt does; exactly one field is set. */
        Target: {
            exec?: components["schemas"]["ExecTarget"];
            /** @description name of code on a node */
            handler?: string;
            http?: components["schemas"]["HTTPTarget"];
        };
        /** @description Timing is one way of being due; exactly one of its fields is set. */
        Timing: {
            /**
             * Format: date-time
             * @description anchor belongs to every. Default: when the store first met the schedule.
             */
            anchor?: string;
            /** @description at is one instant: RFC 3339, or local time in the schedule's zone ("2026-11-28T09:00"). */
            at?: string;
            /** @description cron is an expression of package cron, in the schedule's zone. */
            cron?: string;
            /** @description every is an interval of elapsed time, at least 1s, counted from anchor. */
            every?: components["schemas"]["Duration"];
            /** @description rrule is a recurrence rule of RFC 5545, with or without a DTSTART line; without one, it starts at the schedule's Start. */
            rrule?: string;
        };
        /**
         * @description Topic is the kind of thing an event is about.
         * @enum {string}
         */
        Topic: "any" | "schedules" | "occurrences" | "nodes" | "leases";
        /** @description TriggerRequest asks for an occurrence now. */
        TriggerRequest: {
            /** Format: date-time */
            due?: string;
            /** @description once is an idempotency key: asking again with it answers with the same occurrence. The header Idempotency-Key means the same. */
            once?: string;
            /** @description parallel does not wait for earlier occurrences of the schedule. */
            parallel?: boolean;
            /** @description payload replaces the definition's. */
            payload?: unknown;
            /** @description period asks for the occurrence of that business period, due for the one that is due at that instant. Neither: one with an identity of its own, manual-…, which never stands in for a scheduled one. */
            period?: string;
            why?: string;
        };
        /** @description TriggerResult is what a trigger came to. */
        TriggerResult: {
            occurrence: components["schemas"]["Occurrence"];
            status: components["schemas"]["TriggerStatus"];
        };
        /**
         * @description TriggerStatus says whether a trigger made an occurrence.
         * @enum {string}
         */
        TriggerStatus: "created" | "duplicate";
        /** @description Unowned is a try at a period that no lease owned. */
        Unowned: {
            /** Format: date-time */
            due: string;
            error?: string;
            /** Format: int64 */
            exit_code?: number;
            /** Format: date-time */
            finished_at: string;
            node: string;
            outcome: components["schemas"]["Outcome"];
            period: string;
            /**
             * Format: date-time
             * @description recorded_at is when the store learned of it.
             */
            recorded_at?: string;
            /**
             * Format: date-time
             * @description by the node's clock, like finished_at
             */
            started_at: string;
        };
        /** @description Upcoming is a time at which a schedule comes due. */
        Upcoming: {
            /** Format: date-time */
            due: string;
            /** @description local is due on a clock in the schedule's zone. */
            local: string;
            period: string;
            /** @description skip says why nothing will happen then; empty where something will. */
            skip?: string;
        };
        UpcomingList: {
            items: components["schemas"]["Upcoming"][];
            next_cursor?: string;
        };
        /**
         * @description Waiting says what a pending occurrence waits for.
         * @enum {string}
         */
        Waiting: "slot" | "time" | "earlier";
        /**
         * @description WhenUnavailable says what a node does with a schedule while the store cannot be reached.
         * @enum {string}
         */
        WhenUnavailable: "wait";
        /** @description WhyRequest says why somebody asks for something, for the audit. */
        WhyRequest: {
            why?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AcquireRequest = components['schemas']['AcquireRequest'];
export type Action = components['schemas']['Action'];
export type ApplyRequest = components['schemas']['ApplyRequest'];
export type Attempt = components['schemas']['Attempt'];
export type AuditRow = components['schemas']['AuditRow'];
export type AuditRowList = components['schemas']['AuditRowList'];
export type BackfillAction = components['schemas']['BackfillAction'];
export type BackfillItem = components['schemas']['BackfillItem'];
export type BackfillRequest = components['schemas']['BackfillRequest'];
export type BackfillResult = components['schemas']['BackfillResult'];
export type BackfillRule = components['schemas']['BackfillRule'];
export type BeatRequest = components['schemas']['BeatRequest'];
export type CalendarRule = components['schemas']['CalendarRule'];
export type CallbackRequest = components['schemas']['CallbackRequest'];
export type CatchUp = components['schemas']['CatchUp'];
export type CatchUpPolicy = components['schemas']['CatchUpPolicy'];
export type Change = components['schemas']['Change'];
export type Changes = components['schemas']['Changes'];
export type Claim = components['schemas']['Claim'];
export type ClaimRequest = components['schemas']['ClaimRequest'];
export type ClaimResult = components['schemas']['ClaimResult'];
export type Dst = components['schemas']['DST'];
export type DeclareRequest = components['schemas']['DeclareRequest'];
export type DeclareResult = components['schemas']['DeclareResult'];
export type DefinitionFault = components['schemas']['DefinitionFault'];
export type Duration = components['schemas']['Duration'];
export type Effect = components['schemas']['Effect'];
export type EffectCounts = components['schemas']['EffectCounts'];
export type EffectMaker = components['schemas']['EffectMaker'];
export type EffectReport = components['schemas']['EffectReport'];
export type EffectStatus = components['schemas']['EffectStatus'];
export type EffectStatusList = components['schemas']['EffectStatusList'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type Event = components['schemas']['Event'];
export type Exclusion = components['schemas']['Exclusion'];
export type ExecTarget = components['schemas']['ExecTarget'];
export type FinishRequest = components['schemas']['FinishRequest'];
export type FinishResult = components['schemas']['FinishResult'];
export type Finished = components['schemas']['Finished'];
export type HttpTarget = components['schemas']['HTTPTarget'];
export type ItemError = components['schemas']['ItemError'];
export type JoinRequest = components['schemas']['JoinRequest'];
export type JoinResult = components['schemas']['JoinResult'];
export type LastOccurrence = components['schemas']['LastOccurrence'];
export type Lease = components['schemas']['Lease'];
export type LeaseList = components['schemas']['LeaseList'];
export type Node = components['schemas']['Node'];
export type NodeList = components['schemas']['NodeList'];
export type NodeState = components['schemas']['NodeState'];
export type Occurrence = components['schemas']['Occurrence'];
export type OccurrenceList = components['schemas']['OccurrenceList'];
export type OnFailure = components['schemas']['OnFailure'];
export type Origin = components['schemas']['Origin'];
export type Outcome = components['schemas']['Outcome'];
export type Overlap = components['schemas']['Overlap'];
export type PauseQueueRequest = components['schemas']['PauseQueueRequest'];
export type PauseRequest = components['schemas']['PauseRequest'];
export type PauseStatus = components['schemas']['PauseStatus'];
export type PeriodChange = components['schemas']['PeriodChange'];
export type PeriodUnit = components['schemas']['PeriodUnit'];
export type Problem = components['schemas']['Problem'];
export type ProblemError = components['schemas']['ProblemError'];
export type Queue = components['schemas']['Queue'];
export type QueueStatus = components['schemas']['QueueStatus'];
export type QueueStatusList = components['schemas']['QueueStatusList'];
export type Rate = components['schemas']['Rate'];
export type ReleaseLeaseRequest = components['schemas']['ReleaseLeaseRequest'];
export type RenewLeaseRequest = components['schemas']['RenewLeaseRequest'];
export type RenewRequest = components['schemas']['RenewRequest'];
export type RenewResult = components['schemas']['RenewResult'];
export type Renewal = components['schemas']['Renewal'];
export type Renewed = components['schemas']['Renewed'];
export type Report = components['schemas']['Report'];
export type ResolveEffectRequest = components['schemas']['ResolveEffectRequest'];
export type ResolveEffectResult = components['schemas']['ResolveEffectResult'];
export type ResolveRequest = components['schemas']['ResolveRequest'];
export type ResumeRequest = components['schemas']['ResumeRequest'];
export type Retry = components['schemas']['Retry'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduleStatus = components['schemas']['ScheduleStatus'];
export type ScheduleStatusList = components['schemas']['ScheduleStatusList'];
export type SimulateRequest = components['schemas']['SimulateRequest'];
export type SimulateResult = components['schemas']['SimulateResult'];
export type Simulation = components['schemas']['Simulation'];
export type SkipCount = components['schemas']['SkipCount'];
export type StaleReport = components['schemas']['StaleReport'];
export type StartRequest = components['schemas']['StartRequest'];
export type StartResult = components['schemas']['StartResult'];
export type State = components['schemas']['State'];
export type Stats = components['schemas']['Stats'];
export type Target = components['schemas']['Target'];
export type Timing = components['schemas']['Timing'];
export type Topic = components['schemas']['Topic'];
export type TriggerRequest = components['schemas']['TriggerRequest'];
export type TriggerResult = components['schemas']['TriggerResult'];
export type TriggerStatus = components['schemas']['TriggerStatus'];
export type Unowned = components['schemas']['Unowned'];
export type Upcoming = components['schemas']['Upcoming'];
export type UpcomingList = components['schemas']['UpcomingList'];
export type Waiting = components['schemas']['Waiting'];
export type WhenUnavailable = components['schemas']['WhenUnavailable'];
export type WhyRequest = components['schemas']['WhyRequest'];
export type $defs = Record<string, never>;
export interface operations {
    apply: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    finishAttempts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FinishRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FinishResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewAttempts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RenewResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description How many items a page holds. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string;
                /** @description schedule/ID, queue/NAME, occurrence/ID or effect/KEY. Default: all. */
                object?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditRowList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endDetachedAttempt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                seq: number;
                token: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CallbackRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Finished"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Precondition Failed */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    claim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    declare: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeclareRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeclareResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEffects: {
        parameters: {
            query?: {
                /** @description How many items a page holds. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string;
                /** @description The one with exactly this business key. */
                key?: string;
                /** @description Only keys that begin with it. */
                prefix?: string;
                /** @description Only those of this occurrence. */
                occurrence?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectStatusList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolveEffect: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveEffectRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolveEffectResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events of these topics; may be given several times. */
                topic?: components["schemas"]["Topic"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listLeases: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeaseList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acquireLease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcquireRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    releaseLease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseLeaseRequest"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewLease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewLeaseRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listNodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    joinNode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    beatNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The number that joining answered. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BeatRequest"];
            };
        };
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    leaveNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The number that joining answered. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listOccurrences: {
        parameters: {
            query?: {
                /** @description How many items a page holds. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string;
                /** @description Only those of this schedule. */
                schedule?: string;
                /** @description Only those in one of these states; may be given several times. */
                state?: components["schemas"]["State"][];
                /** @description Only those that a person should look at: failed, uncertain and missed. */
                attention?: boolean;
                /** @description Only those due at this instant or later. */
                from?: string;
                /** @description Only those due before this instant. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OccurrenceList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOccurrence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Occurrence"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelOccurrence: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WhyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Occurrence"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolveOccurrence: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Occurrence"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryOccurrence: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WhyRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Occurrence"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listQueues: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueStatusList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseQueue: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PauseQueueRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueStatus"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeQueue: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueStatus"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description How many items a page holds. */
                limit?: number;
                /** @description next_cursor of the page before. */
                cursor?: string;
                /** @description Only IDs that begin with it. */
                prefix?: string;
                /** @description Only those that this owner holds: api, file:…, code:…. */
                owner?: string;
                /** @description Only those of this shared queue. */
                queue?: string;
                /** @description Only paused ones, or only others. */
                paused?: boolean;
                /** @description Only those that no live node declares any more, or only others. */
                orphaned?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatusList"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatus"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putSchedule: {
        parameters: {
            query?: {
                /** @description Take it over from another owner. */
                force?: boolean;
            };
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Schedule"];
            };
        };
        responses: {
            /** @description The schedule was there and now has this definition */
            200: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatus"];
                };
            };
            /** @description It was made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatus"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteSchedule: {
        parameters: {
            query?: {
                /** @description Remove it although another owner holds it. */
                force?: boolean;
            };
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    backfillSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackfillRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PauseRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatus"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResumeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStatus"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startOccurrence: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    triggerSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description For whom the request is made; the audit names them. Default: api. */
                "Duly-Actor"?: string;
                /** @description The same as once in the body. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TriggerRequest"];
            };
        };
        responses: {
            /** @description The occurrence existed */
            200: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerResult"];
                };
            };
            /** @description It was made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflict */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUpcoming: {
        parameters: {
            query?: {
                /** @description How many times to list. */
                n?: number;
                /** @description The instant after which to look. Default: now. */
                from?: string;
            };
            header?: never;
            path: {
                /** @description A '/' in it is sent as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpcomingList"];
                };
            };
            /** @description Not Found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    simulate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulateRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulateResult"];
                };
            };
            /** @description Bad Request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Entity Too Large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal Server Error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
