// Package storetest is the conformance suite of package store: a store is
// right when Run passes, unchanged, and nothing else says so. Each test is
// named as the claim that it proves. New behaviour of the contract begins as a
// claim here.
//
// It also has Faulty, which puts faults between a program and a real store.
//
// The suite speaks to stores by their contract alone: what it plans are small
// closures of its own, and it moves time by the Now of requests, forward from
// the present, so that it runs against servers whose clocks it cannot move.
//
// What may not live here: knowledge of any one store, and package plan.
package storetest
