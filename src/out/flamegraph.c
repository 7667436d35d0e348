/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows with stacks -> a flame graph: one SVG that needs nothing else.  A call is as wide as what
 * the rows in it come to, and stands on its caller; a click makes it as wide as all, a search
 * colours what it finds.  The same rows give the same bytes.
 */
#include <string.h>

#include "base/utf8.h"
#include "out/calls.h"

/* Pixels; places are tenths of one. */
#define WIDTH	     1200u
#define LINE	     17u
#define HEAD	     28u
#define FOOT	     24u
#define LETTER	     7u /* of 12 pixels, about */
#define LEAST_TENTHS 1u

/*
 * f: all calls; g[0], the root, is at the bottom.  zoom(e) scales so that e is as wide as the root,
 * and so are those below it; who lies beside is hidden.
 */
static const char script[] =
	"const f=[...document.querySelectorAll('g.f')],W=" /* WIDTH */ "1200;\n"
	"const d=e=>[+e.dataset.x,+e.dataset.w];\n"
	"function draw(e,x,w){const r=e.querySelector('rect'),t=e.querySelector('text'),"
	"n=e.dataset.n,k=Math.floor((w-4)/7);\n"
	"r.setAttribute('x',x);r.setAttribute('width',Math.max(w-.3,.1));t.setAttribute('x',x+3);\n"
	"t.textContent=k<3?'':n.length<=k?n:n.slice(0,k-2)+'..';}\n"
	"function zoom(e){const[x,w]=d(e),y=+e.dataset.d;for(const g of f){const[a,b]=d(g);\n"
	"const under=+g.dataset.d<y,is=under?a<=x+1e-6&&a+b>=x+w-1e-6:"
	"a>=x-1e-6&&a+b<=x+w+1e-6;\n"
	"g.style.display=is?'':'none';if(is)under?draw(g,0,W):draw(g,(a-x)*W/w,b*W/w);}\n"
	"document.getElementById('u').style.display=y?'':'none';}\n"
	"function find(s){let r=null;try{r=s?new RegExp(s):null}catch(e){return}\n"
	"const l=[];for(const g of f){const is=r&&g.dataset.d>0&&r.test(g.dataset.n);\n"
	"g.querySelector('rect').style.fill=is?'#e04fe0':'';if(is)l.push(d(g));}\n"
	"l.sort((a,b)=>a[0]-b[0]||b[1]-a[1]);let e=0,n=0;\n"
	"for(const[a,b]of l)if(a>=e-1e-6){n+=b;e=a+b;}\n"
	"document.getElementById('m').textContent=r?(100*n/W).toFixed(2)+'% match '+s:'';}\n"
	"for(const g of f)g.onclick=()=>zoom(g);\n"
	"document.getElementById('u').onclick=()=>zoom(f[0]);\n"
	"document.getElementById('s').onclick=()=>find(prompt('Search (a regular expression)')||'');\n";

static void put_escaped(struct buf *buf, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '&')
			buf_puts(buf, "&amp;");
		else if (c == '<')
			buf_puts(buf, "&lt;");
		else if (c == '>')
			buf_puts(buf, "&gt;");
		else if (c == '"')
			buf_puts(buf, "&quot;");
		else
			buf_putc(buf, c);
	}
}

static void put_tenths(struct buf *buf, u64 tenths)
{
	buf_put_u64(buf, tenths / 10);
	buf_putc(buf, '.');
	buf_putc(buf, (char)('0' + tenths % 10));
}

/* Of a name always the same: what makes its colour, from yellow to red. */
static u32 hue_of(const char *name)
{
	u32 hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 16777619u;
	return hash >> 8;
}

struct drawing {
	struct out *out;
	struct calls *calls;
	u128 total;
	u64 n_narrow;
};

static u64 tenths_of(const struct drawing *d, u128 value)
{
	return (u64)((double)value / (double)d->total * WIDTH * 10 + 0.5);
}

/* What fits into the box, cut between characters. */
static size_t fitting(const char *name, u64 width_tenths)
{
	size_t room = width_tenths / 10 > 4 ? (width_tenths / 10 - 4) / LETTER : 0;
	size_t n = strlen(name), at = 0, length;

	if (room < 3)
		return 0;
	if (n <= room)
		return n;
	while (at < n && (length = MAX(utf8_length(name + at, n - at), (size_t)1)) &&
	       at + length <= room - 2)
		at += length;
	return at;
}

static void put_call(struct drawing *d, const struct call *call, u128 before)
{
	struct buf *buf = &d->out->buf, *name = &d->out->scratch;
	u64 x = tenths_of(d, before), width = tenths_of(d, before + call->all) - x;
	u64 share = (u64)((double)call->all / (double)d->total * 10000 + 0.5);
	u32 y = HEAD + (d->calls->deepest - call->depth) * LINE, hue = hue_of(call->name);
	size_t n;

	if (width < LEAST_TENTHS) {
		d->n_narrow++;
		return;
	}
	/* No control bytes, and UTF-8: what XML takes. */
	buf_reset(name);
	out_put_visible(name, call->name, strlen(call->name), 0);
	n = fitting(name->at, width);
	buf_puts(buf, "<g class=\"f\" data-n=\"");
	put_escaped(buf, name->at, name->n);
	buf_printf(buf, "\" data-d=\"%u\" data-x=\"", call->depth);
	put_tenths(buf, x);
	buf_puts(buf, "\" data-w=\"");
	put_tenths(buf, width);
	buf_puts(buf, "\"><title>");
	put_escaped(buf, name->at, name->n);
	buf_puts(buf, " (");
	out_put_thousands(buf, (s128)call->all);
	buf_printf(buf, ", %llu.%02llu%%)</title><rect x=\"", (unsigned long long)share / 100,
		   (unsigned long long)share % 100);
	put_tenths(buf, x);
	buf_printf(buf, "\" y=\"%u\" width=\"", y);
	put_tenths(buf, width > 3 ? width - 3 : width);
	buf_printf(buf, "\" height=\"%u\" fill=\"rgb(%u,%u,%u)\"/><text x=\"", LINE - 1,
		   205 + hue % 50, 70 + hue / 64 % 150, 30 + hue / 4096 % 40);
	put_tenths(buf, x + 30);
	buf_printf(buf, "\" y=\"%u\">", y + 12);
	put_escaped(buf, name->at, n);
	buf_puts(buf, n && n < name->n ? ".." : "");
	buf_puts(buf, "</text></g>\n");
	out_row_done(d->out);
}

/* Callers first, each where its part begins: behind what its earlier neighbours come to. */
static void put_calls(struct drawing *d)
{
	u128 before = 0;
	struct call *call = d->calls->root;

	while (call && !d->out->error) {
		if (call->all)
			put_call(d, call, before);
		if (call->children) {
			call = call->children;
			continue;
		}
		before += call->all;
		while (call && !call->next) {
			call = call->parent;
			/* Behind those it calls comes what is its own. */
			before += call ? call->self : 0;
		}
		call = call ? call->next : NULL;
	}
}

static void put_foot(struct drawing *d, u32 height)
{
	struct buf *buf = &d->out->buf, *text = &d->out->scratch;
	const struct batch *total = &d->calls->total;

	buf_reset(text);
	if (d->n_narrow) {
		buf_put_u64(text, d->n_narrow);
		buf_puts(text, " calls are too narrow to be drawn  ");
	}
	out_put_loss(text, total);
	out_put_sampled(text, "  ", total);
	buf_printf(buf, "<text x=\"6\" y=\"%u\">", height - 8);
	put_escaped(buf, text->at, text->n);
	buf_puts(buf, "</text>\n");
}

static void put_graph(struct out *out, struct calls *calls)
{
	struct drawing d = { .out = out,
			     .calls = calls,
			     .total = calls->root ? calls->root->all : 0 };
	u32 height = HEAD + (calls->deepest + 1) * LINE + FOOT;
	struct buf *buf = &out->buf;

	buf_printf(buf,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\">\n"
		   "<style>text{font:12px monospace}g.f{cursor:pointer}g.f:hover rect{stroke:#000}"
		   "g.f text{pointer-events:none}#u,#s{cursor:pointer}</style>\n"
		   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff8e8\"/>\n"
		   "<text id=\"u\" x=\"6\" y=\"18\" style=\"display:none\">all of it</text>\n"
		   "<text id=\"m\" x=\"%u\" y=\"18\" text-anchor=\"middle\"></text>\n"
		   "<text id=\"s\" x=\"%u\" y=\"18\" text-anchor=\"end\">search</text>\n",
		   WIDTH, height, WIDTH, height, WIDTH / 2, WIDTH - 6);
	if (d.total) {
		calls->root->name = "all";
		put_calls(&d);
	}
	put_foot(&d, height);
	buf_puts(buf, "<script><![CDATA[\n");
	buf_puts(buf, d.total ? script : "");
	buf_puts(buf, "]]></script>\n</svg>\n");
}

static void flamegraph_end(struct out *out)
{
	struct calls *calls = out->state;

	if (!out->error) {
		calls_sort(calls);
		put_graph(out, calls);
	}
	calls_free(calls);
}

const struct out_format out_flamegraph = {
	.name = "flamegraph",
	.meaning = "a flame graph of stacks: one SVG, to click and to search in",
	.needs_calls = true,
	.is_single = true,
	.state_bytes = sizeof(struct calls),
	.begin = calls_begin,
	.batch = calls_batch,
	.row = calls_row,
	.account = calls_account,
	.end = flamegraph_end,
};
