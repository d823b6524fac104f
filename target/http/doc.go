// Package http sends requests: the target for work that a service does.
//
// An attempt is one request. It says everything about the attempt twice, as
// JSON in its body and as Duly- headers, names the same Idempotency-Key in
// every attempt, starts a trace (traceparent) and, where the target has a
// secret, is signed by the Standard Webhooks scheme. The answer's status is the
// outcome:
//
//	2xx                 done; a JSON answer is the attempt's result
//	202                 accepted: the receiver reports the end to callback_url
//	408, 425, 429, 5xx  failed, tried again, after Retry-After if that is given
//	412 problem+json    failed: a fence refused the token as stale
//	307, 308            followed, within the same scheme, host and port
//	other 3xx and 4xx   failed for good
//
// No answer at all (refused, reset, broken off) is a failure that is tried
// again: the receiver may have done the work, which is what the idempotency key
// and the fencing token are for. One attempt is never sent twice behind the
// back of its history.
//
// A JSON answer may name the effects that the receiver caused or found:
//
//	{"effects": [{"key": "invoice/42/2026-11", "reused": true}]}
//
// An answer that is no success may name those that may have happened all the
// same, so that the occurrence does not end as failed:
//
//	{"effects": [{"key": "charge/42/2026-11", "open": true}]}
//
// Targets are given by people, so the package trusts no address: those of cloud
// metadata services are never dialled, with Options.PublicOnly no private one
// either. What counts is the address dialled, not the name. Redirects to another
// host are not followed, and the environment's proxies are ignored, for both
// would carry headers and secrets elsewhere.
package http
