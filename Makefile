# Duly: two commands do all the set-up: `make run` and `make test`.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
SOAK        ?= 1h
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -s -w -X github.com/duly-dev/duly.Version=$(VERSION)

# In the clients' folder, with a Node.js that is recent enough.
IN_CLIENTS := cd clients && PATH="$$(../scripts/recent-node):$$PATH" &&

.DEFAULT_GOAL := help
.PHONY: help run build test test-clients generate npm-pack chaos lint fmt fuzz bench bench-scale clean

help: ## show what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start Duly with the invoice example on embedded SQLite; Ctrl-C stops it
	@$(GO) build -o bin/invoices ./examples/invoices && exec bin/invoices

build: ## build bin/duly, without cgo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/duly ./cmd/duly

test: ## install the servers that tests need, then run every test with the race detector
	./scripts/test-servers
	$(GO) test -race -timeout 30m ./...
	$(MAKE) --no-print-directory test-clients

test-clients: clients/node_modules/.package-lock.json ## run the tests of the Node.js packages alone
	$(IN_CLIENTS) npm test && node --test cli/test/*.test.mjs && cd ../examples/nestjs && npm test

clients/node_modules/.package-lock.json: clients/package-lock.json
	$(IN_CLIENTS) npm ci --no-fund --no-audit

generate: clients/node_modules/.package-lock.json ## write anew what is generated: the API's description, and what clients make of it
	$(GO) generate ./server
	$(IN_CLIENTS) npm run generate

npm-pack: clients/node_modules/.package-lock.json ## make the packages for npm, bin/npm/*.tgz: duly for each platform, and the libraries
	$(IN_CLIENTS) GO='$(GO)' node cli/scripts/pack.mjs --describe '$(VERSION)' --out ../bin/npm

chaos: ## ten minutes of faults: workers and PostgreSQL servers killed, paused, cut off and replaced
	./scripts/test-servers
	$(GO) test -race -v -timeout 30m ./internal/chaos -run 'TestChaos$$' -chaos.for=10m

lint: ## go vet, staticcheck, gofumpt, and the versions that must agree
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@out=$$($(GO) run $(GOFUMPT) -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (make fmt):"; echo "$$out"; exit 1; fi
	$(GO) mod verify >/dev/null
	$(MAKE) --no-print-directory clients/node_modules/.package-lock.json
	$(IN_CLIENTS) npm run build && npm run lint && cd ../examples/nestjs && npm run setup && npm run lint

fmt: ## format all Go code
	$(GO) run $(GOFUMPT) -w $$(git ls-files '*.go')

fuzz: ## run every fuzz target for a minute each
	@for pkg in $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -h '^func Fuzz' $$pkg/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
	    echo "$$pkg $$f"; $(GO) test $$pkg -run '^$$' -fuzz "^$$f$$" -fuzztime 60s || exit 1; done; done

soak: ## play the simulation with random seeds for an hour, or for SOAK=8h
	$(GO) test ./internal/sim -run PromisesHold -timeout 0 -v -soak $(SOAK)

bench: build ## measure this machine: lifecycles a second, latency, memory
	./scripts/test-servers
	$(GO) test -run '^$$' -bench . -benchmem ./cron ./plan ./store/sqlite
	$(GO) test -run '^$$' -bench . -timeout 60m ./store/postgres
	bin/duly bench --store sqlite:$$(mktemp -d)/bench.db
	./scripts/with-postgres bin/duly bench

bench-scale: build ## measure PostgreSQL with a million schedules and bursts of 100,000
	./scripts/test-servers
	./scripts/with-postgres bin/duly bench --only burst,scale --schedules 1000000 --bursts 1000,10000,100000

clean: ## remove what was built
	rm -rf bin
