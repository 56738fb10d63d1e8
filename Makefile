# Redrive's two commands: `make run` and `make test`. Both install what they need and say so first.

SHELL := /bin/bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c

TARGET := $(or $(CARGO_TARGET_DIR),target)
SITE := $(TARGET)/site/pkg
BINDGEN_VERSION := $(shell sed -n '/^name = "wasm-bindgen"$$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
BINDGEN := .tools/bin/wasm-bindgen
export REDRIVE_SITE := $(abspath $(SITE))
export PATH := $(CURDIR)/.tools/node/bin:$(PATH)

.PHONY: run build test site lint unit end2end bench

## run: build the release binary and open the demo at http://127.0.0.1:7420
run: build
	exec $(TARGET)/release/redrive demo

## build: leave a self-contained target/release/redrive
build: site
	cargo build --release --package server

## test: every check and every test, on both databases and in the browser
test:
	.ci/setup.sh test
	$(MAKE) lint
	server/tests/with-postgres.sh $(MAKE) unit
	$(MAKE) build
	server/tests/with-postgres.sh $(MAKE) end2end

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features app/ssr -- -D warnings
	cargo clippy --package app --lib --target wasm32-unknown-unknown --features hydrate -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features app/ssr --document-private-items

unit:
	cargo test --workspace --features app/ssr

end2end:
	cd end2end
	REDRIVE_BIN=$(abspath $(TARGET)/release/redrive) npx playwright test

# What browsers of the last years know. All features would use encodings that none of them reads.
WASM_FEATURES := --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext \
	--enable-mutable-globals --enable-reference-types --enable-multivalue

# The browser's half: compiled, bound, shrunk. The server's build embeds what lies in $(SITE).
site: $(SITE)/app.wasm

$(SITE)/app.wasm: $(BINDGEN) end2end/node_modules/.package-lock.json Cargo.lock Cargo.toml app/Cargo.toml $(shell find app/src -name '*.rs')
	cargo build --package app --lib --target wasm32-unknown-unknown --features hydrate --profile wasm-release
	mkdir -p $(dir $(SITE))
	$(BINDGEN) --target web --no-typescript --out-name app --out-dir $(SITE).new $(TARGET)/wasm32-unknown-unknown/wasm-release/app.wasm
	end2end/node_modules/.bin/wasm-opt -Oz $(WASM_FEATURES) -o $(SITE).new/app.wasm $(SITE).new/app_bg.wasm
	rm -rf $(SITE) $(SITE).new/app_bg.wasm && mv $(SITE).new $(SITE)

$(BINDGEN):
	.ci/setup.sh build
	echo "Installing wasm-bindgen-cli $(BINDGEN_VERSION) into .tools: it binds the browser's half to JavaScript."
	cargo install --quiet --debug --root .tools wasm-bindgen-cli --version $(BINDGEN_VERSION)

end2end/node_modules/.package-lock.json: end2end/package-lock.json
	.ci/setup.sh build
	echo "Installing the packages of end2end/package-lock.json: wasm-opt and the browser tests."
	cd end2end
	npm ci --no-audit --no-fund
	touch node_modules/.package-lock.json

## bench: pages beside the bare SQL for the same rows; see docs/benchmarks.md
bench: site
	cargo bench --package server --bench pages --bench claims
