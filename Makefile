# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Short names for meson and ninja; the build itself is in meson.build.  Binary: build/ebql

JOBS ?= $(shell nproc)

all: build/build.ninja
	ninja -C build -j $(JOBS)

build/build.ninja:
	meson setup build

test:
	scripts/test

bench:
	bench/run

lint:
	tools/lint

format:
	clang-format -i $$(find src tests bench -name '*.[ch]')

asan:
	[ -e build-asan/build.ninja ] || meson setup build-asan -Db_sanitize=address,undefined \
		-Doptimization=1
	ninja -C build-asan -j $(JOBS)

fuzz:
	[ -e build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Dfuzz=true \
		-Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-fuzz -j $(JOBS)

install: all
	meson install -C build --no-rebuild

clean:
	rm -rf build build-asan build-fuzz build-release

.PHONY: all test bench lint format asan fuzz install clean
