# `make run` and `make test` need nothing done before them but Swift 6.3 and, on Debian, apt.

SWIFT ?= swift
export SWIFTPM_FLAGS ?=
BINARY := .build/release/parley

.PHONY: run build test check clients format lint bench dependencies clean

## Builds what is missing and serves http://127.0.0.1:8080 in dev mode, data in ./parley-data.
run: build
	@exec $(BINARY) serve --dev --data ./parley-data

build: dependencies
	$(SWIFT) build -c release --product parley $(SWIFTPM_FLAGS)

## Every test: Swift's, then the real clients (Python packages, headless Chromium) against a running gateway.
test: dependencies
	$(SWIFT) test $(SWIFTPM_FLAGS)
	@$(MAKE) --no-print-directory clients

clients: build
	@scripts/client-tests $(BINARY)

## What the continuous build runs.
check: lint dependencies
	$(SWIFT) build --build-tests -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error $(SWIFTPM_FLAGS)
	$(SWIFT) test --skip-build -Xswiftc -warnings-as-errors $(SWIFTPM_FLAGS)
	@$(MAKE) --no-print-directory clients

format:
	$(SWIFT) format -i -r Package.swift Sources Tests

lint:
	$(SWIFT) format lint -s -r Package.swift Sources Tests

## Figures of docs/performance.md, on this machine.
bench: build
	@Benchmarks/run $(BINARY)

dependencies:
	@scripts/install-dependencies

clean:
	rm -rf .build
