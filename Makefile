# One configuration serves all targets, so that a clone is built once: optimised, because real
# histories are large, and open to tests.
# SwiftPM hands the traits to the compiler in the order of a set: unless hashes are the same each time, a
# build compiles everything again because the order has changed.
# The two copies of BoringSSL, in C++, are half of the work: without optimisation they take half of the time.
# Their ciphers and hashes are in assembly.
BUILD := SWIFT_DETERMINISTIC_HASHING=1 swift build --configuration release --enable-all-traits \
	-Xswiftc -enable-testing -Xcc -O0 -Xcxx -O0
TEST := Scripts/run-tests
GODWIT = $(shell $(BUILD) --show-bin-path)/godwit
LINTED := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
	Examples/Outbox/Package.swift Examples/Outbox/Sources \
	Examples/Roster/Package.swift Examples/Roster/Sources \
	Examples/StateGraph/Package.swift Examples/StateGraph/Sources \
	Examples/Household Examples/Starter Examples/FooBarCloud Examples/Treesystem Fuzz/Package.swift Fuzz/Sources

.PHONY: help setup demo test test-traits build-tests test-threads test-addresses test-planted-bugs test-openapi mutants \
	lint format docs bench merges fuzz soak

help:
	@echo 'make setup              install what is needed (SQLite, PostgreSQL, Chromium, xz, zstd, …)'
	@echo 'make demo               three devices, one list, offline and in sync'
	@echo 'make demo INPUT=FILE    replay a real history: one JSON document on each line, or .xz'
	@echo 'make test               everything that must hold'
	@echo 'make test-threads       the tests under the thread sanitizer'
	@echo 'make test-addresses     the tests under the address and leak sanitizer'
	@echo 'make test-planted-bugs  bugs of our own, each to be found by the simulated world'
	@echo 'make test-openapi       twenty thousand random requests to a server, by its OpenAPI description'
	@echo 'make mutants            small changes of store and queue that tests must notice; MUTANTS=N, SEED=N'
	@echo 'make bench              speed, bytes and memory, beside peers'
	@echo 'make merges             merges of real documents beside what people made of them, and peers'
	@echo 'make fuzz               twenty million inputs for the readers; FUZZ=N for N inputs'
	@echo 'make soak               the long tests, and fuzz; SOAK=N for N times as long'
	@echo 'make format             lay out the code'
	@echo 'make docs               the documentation as a site; DOCS_BASE=/folder for a folder of a host'

setup:
	@Scripts/setup

demo: setup
	@$(BUILD) --product godwit
	@$(GODWIT) demo $(if $(INPUT),--input '$(INPUT)') --svg godwit-demo.svg

test: setup lint
	@$(MAKE) --no-print-directory --jobs 2 test-traits build-tests
	@Scripts/docs
	@for suite in $(ALONE); do $(TEST) --filter "$$suite" || exit 1; done
	$(TEST) $(ALONE:%=--skip '%')

# The compiler works on one large module for minutes: another build uses the other core.
build-tests:
	$(BUILD) --build-tests

# Suites that measure time, or whose processes and sockets must answer in time, have the machine for
# themselves, one after the other.
ALONE := GodwitTreeTests.BudgetTests GodwitStoreTests.BusyMachineTests GodwitServerTests \
	GodwitToolTests.SyncKillTests

# An app that wants only store and queue must not build an HTTP client or a server.
test-traits:
	Scripts/check-traits

# A build of its own, without optimisation: about twenty minutes.
test-threads: setup
	Scripts/check-threads

# A build of its own, without optimisation: about forty minutes.
test-addresses: setup
	Scripts/check-addresses

# Builds store and queue once more, with bugs that can be switched on.
test-planted-bugs: setup
	Scripts/test-planted-bugs

# Schemathesis comes from PyPI.
test-openapi: setup
	@$(BUILD) --product godwit
	Scripts/check-openapi $(GODWIT)

# Builds store and queue with two hundred changes in a copy, and runs their tests against each: an hour.
mutants: setup
	Scripts/mutants --sample $(or $(MUTANTS),200) $(if $(SEED),--seed $(SEED))

lint:
	swift format lint --strict --recursive --parallel $(LINTED)

format:
	swift format format --in-place --recursive --parallel $(LINTED)

# Reads the modules that the build has made.
docs: setup
	@$(BUILD)
	@Scripts/docs $(DOCS_BASE)

# Peers and real data are beside the project, where there are any.
export GODWIT_PEERS ?= $(abspath $(wildcard ../shared/peers))
MERGES ?= $(wildcard ../shared/data/merges.jsonl.xz ../shared/data/merges-2.jsonl.xz)
NBDIME := .build/nbdime

bench: setup
	swift build --configuration release --package-path Benchmarks
	@$$(swift build --configuration release --package-path Benchmarks --show-bin-path)/godwit-bench

# MERGES names the files, MERGES_FLAGS=--list shows each merge that came out differently.
merges: setup
	@test -n '$(MERGES)' || { echo 'merges: ../shared/data has no merges; name files by MERGES=' >&2; exit 1; }
	@Scripts/setup-nbdime $(NBDIME) || echo 'merges: NBDIME IS NOT HERE, its rows will be missing' >&2
	swift build --configuration release --package-path Benchmarks --product godwit-merges
	@$$(swift build --configuration release --package-path Benchmarks --show-bin-path)/godwit-merges \
		$(MERGES_FLAGS) --nbdime '$(NBDIME)/bin/python Scripts/merge-with-nbdime.py' $(MERGES)

fuzz: setup
	Scripts/fuzz $(or $(FUZZ),20000000)

soak: SOAKED = GODWIT_TEST_MINUTES=10000 GODWIT_SOAK=$(or $(SOAK),10)
soak: setup test-planted-bugs test-openapi fuzz
	$(BUILD) --build-tests
	@for suite in $(ALONE); do $(SOAKED) $(TEST) --filter "$$suite" || exit 1; done
	$(SOAKED) $(TEST) $(ALONE:%=--skip '%')
