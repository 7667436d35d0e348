// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// arrow.js MODULES ARROW JSON [OFFSET]: does npm's apache-arrow, in the folder MODULES, find in an
// Arrow stream of windows what the same windows as JSON lines say?  Batch by batch, value by value
// and by equality.  OFFSET: what instants of CLOCK_MONOTONIC are moved by.
'use strict';
const fs = require('fs');
const path = require('path');
const arrow = require(path.resolve(process.argv[2], 'apache-arrow'));
const offset = BigInt(process.argv[5] || 0);

function fail(where, ...what) {
	console.log(where + ':', ...what);
	process.exit(1);
}

// --- JSON lines: numbers stay texts, as {$: '12'}, and objects lists of [name, value] ---

function parseLine(line) {
	const marked = line.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
		token => token[0] === '"' ? token : `{"$":"${token}"}`);

	return JSON.parse(marked);
}

function isNumber(x) {
	return x !== null && typeof x === 'object' && '$' in x;
}

function integer(x) {
	return x === null ? null : BigInt(isNumber(x) ? x.$ : x);
}

// [{rows: [...], about: text}]
function readJson(file) {
	const windows = [];
	let rows = [];

	for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
		const about = /^\{"_batch":(.*)\}$/.exec(line);

		if (about) {
			windows.push({ rows, about: about[1] });
			rows = [];
		} else if (line) {
			rows.push(parseLine(line));
		}
	}
	return windows;
}

// --- Arrow: values as they are stored ---

function isNull(data, i) {
	return data.nullCount > 0 && !(data.nullBitmap[i >> 3] >> (i & 7) & 1);
}

function decimal(words) {
	let value = 0n;

	for (let i = 3; i >= 0; i--)
		value = value << 32n | BigInt(words[i]);
	return BigInt.asIntN(128, value);
}

function value(data, i) {
	const T = arrow.Type;

	if (isNull(data, i))
		return null;
	switch (data.type.typeId) {
	case T.Int:
	case T.Timestamp:
	case T.Duration:
		return BigInt(data.values[i]);
	case T.Decimal:
		if (data.type.precision !== 38 || data.type.scale !== 0)
			fail('decimal', data.type);
		return decimal(data.values.subarray(4 * i, 4 * i + 4));
	case T.Float:
		return data.values[i];
	case T.Bool:
		return Boolean(data.values[i >> 3] >> (i & 7) & 1);
	case T.FixedSizeBinary: {
		const n = data.type.byteWidth;

		return Buffer.from(data.values.subarray(n * i, n * i + n)).toString('hex');
	}
	case T.Utf8:
		return new arrow.Vector([data]).get(i);
	case T.Dictionary:
		return data.dictionary.get(Number(data.values[i]));
	case T.Struct:
		return Object.fromEntries(data.type.children.map((field, c) =>
			[field.name, value(data.children[c], i)]));
	case T.List: {
		const list = [];

		for (let at = data.valueOffsets[i]; at < data.valueOffsets[i + 1]; at++)
			list.push(value(data.children[0], at));
		return list;
	}
	default:
		return fail('a type', String(data.type));
	}
}

// --- The same? ---

// What the type of a field can hold.
function limits(type) {
	const bits = type.typeId === arrow.Type.Int ? BigInt(type.bitWidth) : 64n;

	if (type.typeId === arrow.Type.Int && !type.isSigned)
		return [0n, (1n << bits) - 1n];
	return [-(1n << bits - 1n), (1n << bits - 1n) - 1n];
}

// A bound that the type cannot hold is none.
function bound(x, type) {
	const n = integer(x), [least, most] = limits(type);

	return n === null || n < least || n > most ? null : n;
}

function child(type, name) {
	const struct = type.typeId === arrow.Type.List ? type.children[0].type : type;

	return struct.children.find(field => field.name === name).type;
}

function real(x) {
	return x === null ? null : Number(x.$ === undefined ? x : x.$);
}

// A value of JSON as Arrow has it; `next` gives the bounds of a quantile.
function expected(kind, type, x, next) {
	if (kind.startsWith('QUANTILE')) {
		const lo = next(), hi = next();

		return x === null ? null : { est: integer(x), lo: bound(lo, child(type, 'lo')),
					     hi: bound(hi, child(type, 'hi')) };
	}
	if (x === null)
		return null;
	if (kind.startsWith('LADDER'))
		return x.map(q => ({ q: real(q.q), est: integer(q.est),
				     lo: bound(q.lo, child(type, 'lo')),
				     hi: bound(q.hi, child(type, 'hi')) }));
	if (kind.startsWith('HISTOGRAM'))
		return x.cells.map(([lo, hi, count]) => ({ lo: bound(lo, child(type, 'lo')),
							   hi: bound(hi, child(type, 'hi')),
							   count: integer(count) }));
	if (kind.startsWith('TOP')) {
		const rows = x.top.concat(integer(x.other.hi) > 0n
			? [{ value: null, lo: x.other.lo, hi: x.other.hi }] : []);

		return rows.map(row => ({ value: isNumber(row.value) ? integer(row.value) : row.value,
					  weight: integer(row.hi),
					  error: integer(row.hi) - integer(row.lo) }));
	}
	if (Array.isArray(x)) // a stack
		return x.slice().reverse().map(call => call.replace(/[\x00-\x20;]/g, '_')).join(';');
	if (type.typeId === arrow.Type.Float)
		return real(x);
	return isNumber(x) || kind === 'POINTER' ? integer(x) : x;
}

function text(x) {
	return JSON.stringify(x, (key, v) => typeof v === 'bigint' ? `${v}n`
		: typeof v === 'number' ? (Object.is(v, -0) ? '-0' : String(v)) : v);
}

function same(kind, type, found, wanted) {
	if (type.typeId === arrow.Type.Timestamp && found !== null && wanted !== null)
		return found === wanted || found === wanted + offset;
	/* JSON has no NaN. */
	return text(found) === text(wanted) || (Number.isNaN(found) && wanted === null);
}

function compareRow(where, batch, i, object) {
	const members = Object.entries(object);
	let at = 0;

	batch.schema.fields.forEach((field, c) => {
		const kind = field.metadata.get('ebql'), found = value(batch.data.children[c], i);

		if (field.name === '_other') {
			if (found !== (object._other === true))
				fail(where, '_other', found);
			return;
		}
		const [name, x] = members[at++];
		const wanted = expected(kind, field.type, x, () => members[at++][1]);

		if (!same(kind, field.type, found, wanted))
			fail(where, name, kind, String(field.type), text(found), text(wanted));
		if (name !== field.name && !/^(fd|_batch)/.test(name))
			fail(where, name, field.name);
	});
	if (members.slice(at).some(([name]) => !['_other', '_query'].includes(name)))
		fail(where, 'columns', members.slice(at));
	batch.get(i).toJSON(); // its own accessors find their way, too
}

const windows = readJson(process.argv[4]);
const bytes = fs.readFileSync(process.argv[3]);
const batches = [...arrow.RecordBatchReader.from(bytes)];
let n = 0;

if (batches.length !== windows.length)
	fail(process.argv[3], batches.length, 'batches', windows.length, 'windows');
batches.forEach((batch, w) => {
	const where = `${process.argv[3]}: batch ${w}`;

	if (batch.metadata.get('_batch') !== windows[w].about)
		fail(where, batch.metadata, windows[w].about);
	if (batch.numRows !== windows[w].rows.length)
		fail(where, batch.numRows, 'rows', windows[w].rows.length);
	for (let i = 0; i < batch.numRows; i++, n++)
		compareRow(`${where}: row ${i}`, batch, i, windows[w].rows[i]);
});
console.log(`${batches.length} batches, ${n} rows: the same`);
