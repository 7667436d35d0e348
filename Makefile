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
	scripts/lint

format:
	clang-format -i $$(find src include examples tests bench -name '*.[ch]')

# What tests run: it checks its accounts while it runs.
debug:
	[ -e build-debug/build.ninja ] || meson setup build-debug -Db_ndebug=false
	ninja -C build-debug -j $(JOBS)

asan:
	[ -e build-asan/build.ninja ] || meson setup build-asan -Db_ndebug=false \
		-Db_sanitize=address,undefined -Doptimization=1
	ninja -C build-asan -j $(JOBS)

fuzz:
	[ -e build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Dfuzz=true \
		-Db_ndebug=false -Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-fuzz -j $(JOBS)

# PREFIX (/usr/local) is remembered; DESTDIR is a folder in front of it, for packages.
install: all
	[ -z '$(PREFIX)' ] || { meson configure build -Dprefix='$(PREFIX)' && ninja -C build; }
	DESTDIR='$(DESTDIR)' meson install -C build --no-rebuild
	[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ldconfig

uninstall:
	DESTDIR='$(DESTDIR)' ninja -C build uninstall

clean:
	rm -rf build build-debug build-asan build-fuzz

.PHONY: all test bench lint format debug asan fuzz install uninstall clean
