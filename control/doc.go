// Package control does what people ask for: apply definitions, look ahead,
// trigger, backfill, pause and resume. It judges a request with package plan
// and has the store carry it out; the HTTP API, the command line and programs
// that embed Duly all go through it, so that they mean the same.
//
// What may not live here: transports, formats, and anything that runs without
// being asked.
package control
