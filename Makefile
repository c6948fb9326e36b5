# `make run` and `make test` need nothing done before them but Swift 6.3 and, on Debian, apt.

SWIFT ?= swift
BINARY := .build/release/parley

# All suites share one process and by default all run at once: hundreds of engines and servers, whose deadlines then
# measure the machine. A few at a time are as fast. HTTPServerTests count the process's descriptors and threads, so
# they have a process to themselves.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 4
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

.PHONY: run build test check clients cluster crash chaos fuzz schemathesis format lint bench dependencies servers clean
.PHONY: sanitize packaging deb tarball sbom check-packages

## Builds what is missing and serves http://127.0.0.1:8080 in dev mode, with its data in ./parley-data. The build is not
## optimized, because an optimized one takes two and a half times as long; `make build` makes that one.
run: dependencies
	$(SWIFT) build --product parley
	@exec .build/debug/parley serve --dev --data ./parley-data

# The Swift runtime is linked in: the program runs on machines without one, and an emit takes an eighth less time. Debug
# information would take a fifth of the build's time; backtraces have function names without it. Only debug builds check
# exclusive access (docs/decisions/0067-exclusive-access-is-checked-in-debug-builds.md).
build: dependencies
	$(SWIFT) build -c release --static-swift-stdlib -debug-info-format none -Xswiftc -enforce-exclusivity=unchecked \
		--product parley

## Every test: Swift's, then the real clients (Python packages, headless Chromium) against a running gateway, the one that
## `make run` builds. `make check` runs them against the optimized one.
test: dependencies servers
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --filter HTTPServerTests
	$(SWIFT) test --skip-build --skip HTTPServerTests
	@scripts/client-tests .build/debug/parley

clients: build
	@scripts/client-tests $(BINARY)

## The tests with real clients against a cluster: two nodes with PostgreSQL and NATS, behind a proxy that sends each
## request to the other node in turn.
cluster: build servers
	@scripts/client-tests --cluster $(BINARY)

## Kills the gateway repeatedly while it stores events. No acknowledged event may be lost, and no subscriber may miss one.
## The random choices come from a seed that is printed: make crash PARLEY_CRASH_SEED=…
crash: export PARLEY_CRASH_ROUNDS ?= 20
crash: build
	@scripts/client-tests $(BINARY) -s -k survive_kills

## Delivers 100,000 events to twenty webhooks, eight of which fail, while the gateway is killed ten times. Then runs the
## behaviours of a storage engine with clusters without a bus, and with a bus that drops half of the hints, and all tests
## with real clients against a cluster, the same deliveries among them. Then kills, pauses, partitions and fills the
## processes of a cluster (scripts/cluster-tests); some of these tests need root.
chaos: export PARLEY_CHAOS_EVENTS ?= 100000
chaos: export PARLEY_CHAOS_KILLS ?= 10
chaos: export PARLEY_CHAOS_TURNS ?= 4
chaos: build servers
	@scripts/client-tests $(BINARY) -s -k without_a_fate
	PARLEY_CLUSTERS=1 $(SWIFT) test --filter ClusterEngineTests
	@scripts/client-tests --cluster $(BINARY) -s
	@PARLEY_CLUSTER_FAULTS=1 scripts/cluster-tests $(BINARY) -s

## Random inputs for the module JSONSchema, with the address sanitizer, and random requests for every route.
fuzz: export PARLEY_FUZZ_SECONDS ?= 150
fuzz: build
	@scripts/fuzz 300
	@scripts/client-tests $(BINARY) -s -k test_fuzz

## Valid and invalid requests made from openapi.yaml, whose responses are compared with it: PARLEY_SCHEMATHESIS_EXAMPLES
## requests for each operation.
schemathesis: export PARLEY_SCHEMATHESIS_EXAMPLES ?= 50
schemathesis: build
	@scripts/schemathesis $(BINARY) $$PARLEY_SCHEMATHESIS_EXAMPLES

# What is concurrent: the loop and its sockets, streams, polls, and what hands events to them.
FOLLOWING := NativeAPITests\.(Stream|HeldPoll|GroupStream|DeviceStream|DeviceSession)|ChatCoreTests\.(Hub|Outbox|Roster|CatchUp)
FOLLOWING := $(FOLLOWING)|PubNubAPITests\.(Subscribe|Presence|ChannelGroup)

## The tests of concurrent code with the thread and the address sanitizer. Each builds everything again, in its own folder.
sanitize: export TSAN_OPTIONS ?= suppressions=$(CURDIR)/Tests/thread-sanitizer.supp
sanitize: dependencies
	@for kind in thread address; do \
		$(SWIFT) build --build-tests --sanitize=$$kind --scratch-path .build/$$kind || exit 1; \
		for tests in HTTPServerTests '$(FOLLOWING)'; do \
			$(SWIFT) test --skip-build --sanitize=$$kind --scratch-path .build/$$kind --filter "$$tests" || exit 1; \
		done; \
	done

# The tests that `make check` repeats against a cluster: those of what nodes share, and of kills.
CLUSTERED := two_interfaces or test_pubnub or parley_js or test_tokens or test_sources_guide or test_restart or survive

## The checks of the continuous build.
check: lint dependencies servers
	@scripts/check-doc-comments
	$(SWIFT) build --build-tests $(STRICT)
	$(SWIFT) test --skip-build $(STRICT) --filter HTTPServerTests
	$(SWIFT) test --skip-build $(STRICT) --skip HTTPServerTests
	@$(MAKE) --no-print-directory packaging
	@scripts/check-binary $(BINARY)
	@$(MAKE) --no-print-directory clients
	@scripts/client-tests --cluster $(BINARY) -k '$(CLUSTERED)'
	@scripts/cluster-tests $(BINARY)

## Tests the sources of the packages: manual, image, chart, dashboard, alerts.
packaging: build
	@scripts/package-tests $(BINARY)

## .build/packages/parley_VERSION_ARCHITECTURE.deb, for Debian 12 and later.
deb: build
	@packaging/make-deb $(BINARY)

## .build/packages/parley-VERSION-linux-MACHINE.tar.gz, for everything else with a recent glibc.
tarball: build
	@packaging/make-tarball $(BINARY)

## The software bill of materials of the packages, as CycloneDX.
sbom: build
	@packaging/make-sbom $(BINARY)

## Installs the packages into clean root directories and tests them. Needs root and minutes; not part of `make check`.
check-packages: build
	@packaging/check $(BINARY)

format:
	$(SWIFT) format -i -r Package.swift Sources Tests

lint:
	$(SWIFT) format lint -s -r Package.swift Sources Tests

## Figures of docs/performance.md, on this machine.
bench: build
	@Benchmarks/run $(BINARY)
	@scripts/fetch-nchan .build/nchan || true
	@Benchmarks/streaming/run $(BINARY)
	@Benchmarks/requests/run $(BINARY)
	@Benchmarks/requests/cpu $(BINARY)
	@Benchmarks/webhooks/run $(BINARY)
	@Benchmarks/webhooks/letters $(BINARY)
	@Benchmarks/schemas/run $(BINARY)
	@Benchmarks/chat/run $(BINARY)
	@Benchmarks/start/run $(BINARY)
	@Benchmarks/backup/run $(BINARY)
	@Benchmarks/pubnub/run $(BINARY)

dependencies:
	@scripts/install-dependencies

## Installs the servers that the tests start: PostgreSQL, NATS, HAProxy and nginx.
servers:
	@scripts/install-test-servers

clean:
	rm -rf .build
