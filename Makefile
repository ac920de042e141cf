# `make demo` and `make test` do everything on a fresh Debian 12 or Ubuntu 24.04; `make help` lists the rest.
K8S ?= 1.37.2
JOBS ?= $(shell nproc)
RANKWARD := build/release/rankward

.DEFAULT_GOAL := help
.PHONY: help dependencies build demo test test-unit test-controlplane demo-cluster asan tsan lint tidy \
        format bench bench-controlplane bench-admission fuzz install clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 22

dependencies: ## install the Debian packages that are missing (asks for sudo only then)
	@scripts/install-dependencies.sh

build: dependencies ## build/release/rankward
	@cmake --preset release > build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }; rm -f build-configure.log
	@cmake --build --preset release -j $(JOBS) --target rankward

demo: build ## place a job and deny a pod on an embedded cluster, over real HTTPS
	@$(RANKWARD) demo

test: test-unit test-controlplane ## everything: unit tests, cases, then the real control plane

test-unit: dependencies ## unit tests and cases
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS)

test-controlplane: test-unit ## real etcd, kube-apiserver and kube-scheduler; K8S=1.34.4 for another version
	@scripts/controlplane.sh test $(K8S)

demo-cluster: build ## the demo on a real control plane
	@scripts/controlplane.sh demo $(K8S)

asan: dependencies ## unit tests under AddressSanitizer and UBSan
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

tsan: dependencies ## the threaded rooms under ThreadSanitizer
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target net_test cluster_test server_test
	ctest --preset tsan -j $(JOBS) -L threads

lint: ## clang-format and the house's own checks
	@scripts/install-dependencies.sh --lint
	@scripts/lint.sh

tidy: dependencies ## clang-tidy; a file that passed is read again only when it or a header changed
	@scripts/install-dependencies.sh --lint
	@scripts/tidy.sh

format: ## clang-format what git knows
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

bench: ## benchmarks, numbers printed (docs/benchmarks.md)
	@scripts/install-dependencies.sh --bench
	@scripts/bench.sh

bench-controlplane: build ## pods a second of the real kube-scheduler, with and without the extender
	@scripts/controlplane.sh throughput $(K8S)

bench-admission: build ## creates a second of the real kube-apiserver, with and without the webhook
	@scripts/controlplane.sh admission $(K8S)

fuzz: ## libFuzzer targets, 60 s each
	@scripts/install-dependencies.sh --fuzz
	@scripts/fuzz.sh

install: build ## into DESTDIR/PREFIX (default /usr/local)
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

clean: ## remove build/
	rm -rf build
