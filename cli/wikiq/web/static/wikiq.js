// Puts parts of the server's pages in place.
const wide = matchMedia("(min-width: 75rem)");
const own = name => document.getElementById(document.body.dataset.ids + name);
const all = what => [...document.querySelectorAll(what)];
const rows = () => all(".hit");
const main = () => own("main");
const box = own("search");
const here = () => location.pathname + location.search;
// The last list of hits, and the place of the one selected.
const listed = () => JSON.parse(sessionStorage.hits || "[]");
let at = here(), selected = -1, asked = 0, asking, timer, previewed, mark = -1;

// Touches only what differs: focus, selection and scroll stay.
function morph(old, fresh) {
	if (old.isEqualNode(fresh)) return;
	if (old.nodeType !== 1 || old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
	if (old.dataset?.preview && !fresh.firstChild) return;
	for (const {name} of [...old.attributes]) fresh.hasAttribute(name) || old.removeAttribute(name);
	for (const {name, value} of fresh.attributes) old.setAttribute(name, value);
	const a = [...old.childNodes], b = [...fresh.childNodes];
	let tail = null;
	while (a[0] && b[0] && a[0].isEqualNode(b[0])) a.shift(), b.shift();
	while (a[0] && b[0] && a.at(-1).isEqualNode(b.at(-1))) tail = a.pop(), b.pop();
	a.splice(b.length).forEach(node => node.remove());
	b.forEach((node, nth) => (a[nth] ? morph(a[nth], node) : old.insertBefore(node, tail)));
}
async function part(address, name, signal) {
	const answer = await fetch(address, {headers: {"X-Part": name}, cache: "no-store", signal});
	return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function dress(nth) {
	selected = nth;
	rows().forEach((row, at) => (row.ariaSelected = at === nth));
	box.ariaExpanded = nth >= 0;
	box.setAttribute("aria-activedescendant", rows()[nth]?.id || "");
}
function select(nth, isMoved) {
	dress(Math.min(Math.max(nth, 0), rows().length - 1));
	const row = rows()[selected];
	if (!row) return;
	if (isMoved) row.scrollIntoView({block: "nearest"});
	sessionStorage.hits = JSON.stringify([here(), row.dataset.place]);
	preview(row.dataset.place).catch(() => {});
}
const find = place => rows().findIndex(row => row.dataset.place === place);
const last = () => (listed()[0] === here() ? find(listed()[1]) : 0);

async function preview(page) {
	const pane = document.querySelector(".preview");
	if (!pane || !wide.matches) return;
	const of = `${new URLSearchParams({page, q: box.value})}`;
	previewed = of;
	const text = (await part(`/section?${of}`, "section")).querySelector("main");
	if (!text || of !== previewed) return;
	const fresh = pane.cloneNode();
	fresh.append(...text.childNodes);
	if (pane.dataset.preview !== of) pane.scrollTop = 0;
	fresh.dataset.preview = of;
	morph(pane, fresh);
}
function open(isApart) {
	const {href} = rows()[selected].querySelector("a");
	isApart ? window.open(href, "", "noopener") : (location = href);
}

// An older answer never takes the place of a newer one.
async function load(address, isTyped) {
	const mine = ++asked;
	asking?.abort();
	const control = (asking = new AbortController());
	control.isTyped = isTyped;
	try {
		const fresh = await part(address, "main", control.signal), next = fresh.querySelector("main");
		if (mine !== asked || !next || next.dataset.waiting) return;
		const place = rows()[selected]?.dataset.place;
		dress(-1);
		morph(main(), next);
		morph(own("state"), fresh.querySelector(".state"));
		document.title = fresh.title;
		at = address;
		if (isTyped) scrollTo(0, 0);
		const same = find(place);
		select(isTyped ? 0 : same < 0 ? last() : same);
		watch();
	} catch {
		// a newer question, or no server
	} finally {
		if (asking === control) asking = null;
	}
}
function type() {
	timer = 0;
	const text = box.value.trim(), isList = main().dataset.part === "results";
	if (text && !/..|[\p{Ideo}ぁ-ヿก-໿က-႟ក-៿]/u.test(text)) return;
	const fields = new URLSearchParams(isList ? location.search : "");
	fields.delete("limit");
	text ? fields.set("q", box.value) : fields.delete("q");
	const address = `${fields}` ? `/?${fields}` : "/";
	history[isList ? "replaceState" : "pushState"](0, "", address);
	load(address, true);
}
function soon(event) {
	clearTimeout(timer);
	if (!event.isComposing) timer = setTimeout(type, 40);
}
box.oninput = soon;
box.addEventListener("compositionend", soon);
onpopstate = () => {
	if (here() === at) return;
	box.value = new URLSearchParams(location.search).get("q") || "";
	load(here());
};
onclick = ({target}) => target.closest(".hit") && select(rows().indexOf(target.closest(".hit")));
wide.onchange = () => select(selected);

const sections = () => all("article section[id]");
const topOf = one => one?.getBoundingClientRect().top;
function current() {
	const list = sections(), target = list.indexOf(document.querySelector(":target"));
	const at = topOf(list[target]);
	return at > 0 && at < innerHeight ? target : list.findLastIndex(one => topOf(one) < 100);
}
function watch() {
	const id = sections()[current()]?.id;
	all(".outline a").forEach(link => {
		const isIt = decodeURIComponent(link.hash.slice(1)) === id;
		if (isIt === !!link.ariaCurrent) return;
		link.ariaCurrent = isIt || null;
		if (isIt) link.closest("nav").scrollTop = link.offsetTop - 200;
	});
}
onscroll = () => requestAnimationFrame(watch);
function toSection(step) {
	const next = sections()[Math.max(0, current() + step)];
	if (next) location.replace(`#${encodeURIComponent(next.id)}`);
}
function toMark(step) {
	const marks = all("article mark");
	mark = (mark + step + marks.length) % marks.length;
	marks.forEach((one, nth) => (one.className = nth === mark ? "now" : ""));
	marks[mark]?.scrollIntoView({block: "center"});
}
// Where the selected hit or the section in view stands: PATH:LINE, title, anchor.
function place() {
	const row = rows()[selected], {path, title} = main().dataset, section = sections()[current()];
	if (row) return [row.dataset.place, row.querySelector("h2").textContent, row.querySelector("a").hash];
	const name = section?.querySelector(":is(h1,h2,h3,h4,h5,h6)")?.textContent;
	return path ? [`${path}:${section?.dataset.line || 1}`, name ? `${title} › ${name}` : title, section ? `#${section.id}` : ""] : [];
}
function tell(text) {
	own("told").textContent = text;
	setTimeout(() => (own("told").textContent = ""), 2000);
}
function copy(isLink) {
	const [where, title, hash] = place();
	const text = isLink ? `[${title.replaceAll("›", ">")}](${where.replace(/:\d+$/, "")}${hash})` : where;
	if (where) navigator.clipboard.writeText(text).then(() => tell(`copied ${text}`), () => tell(text));
}
async function edit() {
	const answer = await fetch("/open", {method: "POST", body: place()[0]});
	tell(answer.ok ? "opened" : await answer.text());
}

// Keys: none while somebody types, composes or holds a modifier.
let went = 0;
const goes = {h: "/", t: "/topics", c: "/check", s: "/status"};
const keys = {
	"/": () => box.select(), "?": () => own("keys").showModal(), y: () => copy(), Y: () => copy(1),
	j: () => select(selected + 1, 1), k: () => select(selected - 1, 1), n: () => toSection(1), p: () => toSection(-1),
	m: () => toMark(1), M: () => toMark(-1), e: () => document.body.dataset.editor && place()[0] && edit(),
};
onkeydown = event => {
	const {key, target} = event, isFree = target === document.body || target === main(), isBox = target === box;
	if (event.isComposing || own("keys").open) return;
	const isApart = event.ctrlKey || event.metaKey, step = {ArrowDown: 1, ArrowUp: -1}[key], where = went > Date.now() - 1500 && goes[key];
	const stop = () => event.preventDefault();
	if (key === "Enter" && (isBox || isFree) && selected >= 0 && !asking?.isTyped && !timer) return stop(), open(isApart);
	if (isApart || event.altKey) return;
	if (step && (isBox || isFree) && selected >= 0) return stop(), select(selected + step, 1);
	if (key === "Escape") return isFree ? main().dataset.part === "page" && listed()[0] && (location = listed()[0]) : target.blur();
	if (isBox) return;
	went = key === "g" ? Date.now() : 0;
	if (where) location = where;
	else if (keys[key]) stop(), keys[key]();
};

// Live: one stream for all tabs of a browser, held by one that is shown.
const channel = new BroadcastChannel("wikiq");
let stream, latest, ending, release, again, due, before = 0, isBehind, isLost;
function refresh() {
	clearTimeout(due);
	if ((isBehind = document.hidden)) return;
	due = setTimeout(() => {
		before = Date.now();
		load(here());
	}, before + 1000 - Date.now());
}
function hear(kind, told) {
	if (kind === "hello") return stream && latest && channel.postMessage(["commit", latest]);
	if (kind === "lost") {
		isLost = true;
		const state = own("state");
		state.textContent = "reconnecting";
		state.className = "state lost";
	} else if (isLost || `${told.index_id}:${told.generation}:${told.state}` !== main().dataset.at) isLost = false, refresh();
}
function spread(kind, told) {
	latest = told || latest;
	channel.postMessage([kind, told]);
	hear(kind, told);
}
function follow() {
	stream = new EventSource("/events");
	stream.addEventListener("generation", ({data}) => spread("commit", JSON.parse(data)));
	stream.onerror = () => {
		spread("lost");
		stream.close();
		again = setTimeout(follow, 1000);
	};
}
function leave() {
	ending?.abort();
	clearTimeout(again);
	stream?.close();
	stream = null;
	release?.();
}
function lead() {
	if (document.hidden) return leave();
	if (isBehind) refresh();
	if (stream) return;
	if (!navigator.locks) return follow();
	leave();
	ending = new AbortController();
	const held = () => new Promise(done => ((release = done), follow()));
	navigator.locks.request("wikiq", {signal: ending.signal}, held).catch(() => {});
}
channel.onmessage = ({data}) => hear(...data);
onpagehide = leave;
onpageshow = document.onvisibilitychange = lead;
channel.postMessage(["hello"]);
select(last());
watch();
