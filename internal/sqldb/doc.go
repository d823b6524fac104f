// Package sqldb is the application's database as packages effect and fence
// see it: a transaction that the application began, or a way to begin one.
//
// What lives here: the dialects and their few differences, the reading of
// driver errors by code, and how a name of any bytes becomes a column. What may
// not: a driver, a statement about effects or fences, and policy.
package sqldb
