// The dashboard: it reads what the server tells any client, with the key or token of the person who looks.

const refreshEvery = 5_000;
const answerWithin = 20_000;
const pageSize = 100;
const clientsMax = 200;
const valueSizeMax = 200_000;
const tokenKey = "godwit-token";

const page = {
  token: sessionStorage.getItem(tokenKey),
  replicas: [],
  wanted: pageSize,
  // After which name the next page begins; null behind the last one.
  next: null,
  selected: null,
  isPaused: false,
  // Ends what is under way when another replica or token is chosen.
  visit: new AbortController(),
};

// MARK: Asking

function refusal({ status, headers }, { error, message = `it answered ${status}` }) {
  const wait = 1_000 * (Number(headers.get("retry-after")) || 0);
  return Object.assign(new Error(message), { status, code: error, wait });
}

async function ask(path, signal) {
  const headers = page.token ? { authorization: `Bearer ${page.token}` } : {};
  const response = await fetch(path, { headers, signal, cache: "no-store" });
  if (response.ok) return response;
  throw refusal(response, await response.json().catch(() => ({})));
}

const soon = (signal) => AbortSignal.any([signal, AbortSignal.timeout(answerWithin)]);
const askJSON = async (path, signal) => (await ask(path, soon(signal))).json();
const replicaPath = (name) => `/v1/replicas/${encodeURIComponent(name)}`;
// What to put behind `curl`.
const curl = (path) => `${page.token ? '-H "Authorization: Bearer KEY" ' : ""}${location.origin}${path}`;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));


function explanation(error) {
  if (!error.status) return "The server does not answer. See whether it runs. This page tries again.";
  if (error.code === "storeFailed") return "The server cannot use its store. Read its log, then start it again.";
  if (error.status === 429) return "This page has asked too often. It waits, and tries again.";
  if (error.status >= 500) return "The server failed. Its log says why. This page tries again.";
  return `The server refuses: ${error.message}.`;
}

// MARK: Showing

const $ = (id) => document.getElementById(id);

function element(tag, contents, attributes = {}) {
  const made = document.createElement(tag);
  made.append(...contents);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function row(cells, attributes) {
  const cell = (content) => (content instanceof Element ? content : element("td", [String(content)]));
  return element("tr", cells.map(cell), attributes);
}

// Leaves rows alone that are still right, and keeps the focus: a screen reader keeps its place.
function fill(id, rows) {
  const body = $(id).tBodies[0];
  const fresh = element("tbody", rows);
  $(id).hidden = rows.length === 0;
  if (body.isEqualNode(fresh)) return;
  const focused = body.contains(document.activeElement) ? document.activeElement.hash : null;
  body.replaceWith(fresh);
  if (focused) [...fresh.querySelectorAll("a")].find((link) => link.hash === focused)?.focus();
}

function write(id, text) {
  if ($(id).textContent !== String(text)) $(id).textContent = text;
}

function note(id, text) {
  write(id, text || "");
  $(id).hidden = !text;
}

function say(text, className = "") {
  write("status", text);
  $("status").className = className;
}

function duration(seconds) {
  const units = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

// MARK: Replicas and devices

async function loadReplicas(signal) {
  let [all, next] = [[], ""];
  while (next !== null && all.length < page.wanted) {
    const query = `limit=${page.wanted - all.length}&after=${encodeURIComponent(next)}`;
    const answer = await askJSON(`/v1/replicas?${query}`, signal);
    all = all.concat(answer.replicas);
    next = answer.next;
  }
  Object.assign(page, { replicas: all, next });
  $("content").hidden = false;
  showReplicas();
}

function replicaRow({ name, serial, objects, clients }) {
  const link = element("a", [name], { href: `#${name}` });
  const isSelected = name === page.selected;
  return row([element("td", [link]), serial, objects, clients], isSelected ? { "aria-current": "true" } : {});
}

function showReplicas() {
  const count = page.replicas.length;
  const wanted = $("filter").value.trim().toLowerCase();
  const found = page.replicas.filter(({ name }) => name.toLowerCase().includes(wanted));
  fill("replicas", found.map(replicaRow));
  note("replicas-note", count > 0 && found.length === 0 && "No loaded replica has this text in its name.");
  write("make", `curl -X PUT ${curl("/v1/replicas/shopping")}`);
  $("empty").hidden = count > 0;
  $("more").hidden = page.next === null;
}

async function loadDetail(signal) {
  const name = page.selected;
  if (name === null) return;
  try {
    const replica = await askJSON(replicaPath(name), signal);
    for (const fact of ["serial", "head", "objects", "bytes", "states"]) write(fact, replica[fact]);
    $("detail-body").hidden = false;
    note("detail-note", null);
    await loadClients(name, signal);
  } catch (error) {
    if (![400, 404].includes(error.status)) throw error;
    $("detail-body").hidden = true;
    note("detail-note", "There is no such replica, or your key may not read it. Choose another one.");
  }
}

async function loadClients(name, signal) {
  try {
    const { serial, clients } = await askJSON(`${replicaPath(name)}/clients`, signal);
    clients.sort((one, other) => one.silentSeconds - other.silentSeconds);
    fill("clients", clients.slice(0, clientsMax).map((client) => clientRow(client, serial)));
    const cut = `${clientsMax} of ${clients.length} devices: “godwit replica clients” lists all.`;
    const none = clients.length === 0 && "No device has been in touch yet.";
    note("clients-note", clients.length > clientsMax ? cut : none);
  } catch (error) {
    if (error.status !== 403) throw error;
    fill("clients", []);
    note("clients-note", "Your key may not administer this replica, so it does not see the devices.");
  }
}

function clientRow(client, serial) {
  const behind = client.isForgotten ? "forgotten" : Math.max(0, serial - client.serial);
  const id = element("td", [client.id], { class: "id" });
  return row([id, client.principal ?? "–", behind, client.serial ?? "–", duration(client.silentSeconds)]);
}

// EventSource sends no token, so this reads the stream itself.
async function follow(signal) {
  const path = `${replicaPath(page.selected)}/events`;
  for (let wait = 1_000; !signal.aborted; wait = Math.min(30_000, 2 * wait)) {
    try {
      const { body } = await ask(path, signal);
      write("live", "Live: each new state shows at once.");
      for await (const [, serial, head] of heads(body)) {
        wait = 1_000;
        write("serial", serial);
        write("head", head);
        $("replicas").querySelector("tr[aria-current] td:nth-child(2)")?.replaceChildren(serial);
      }
    } catch (error) {
      if (signal.aborted || [400, 401, 403, 404].includes(error.status)) return;
    }
    write("live", `Not live: new states show every ${refreshEvery / 1_000} s.`);
    await sleep(wait);
  }
}

async function* heads(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) yield* event.matchAll(/^data: (\d+) (\S+)$/gm);
  }
}

async function showValue() {
  const { signal } = page.visit;
  const path = `${replicaPath(page.selected)}/value`;
  note("value-note", "Loading…");
  try {
    const { text, isCut } = await beginning(await ask(path, signal));
    note("value", indented(text));
    note("value-note", isCut && `The first ${valueSizeMax / 1_000} KB. This prints all: curl ${curl(path)}`);
  } catch (error) {
    if (error.status === 401) return signIn(error);
    note("value-note", signal.aborted ? null : explanation(error));
  }
}

// Reads no more of an answer than is shown.
async function beginning(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  while (size <= valueSizeMax) {
    const { done, value } = await reader.read();
    if (done) return { text, isCut: false };
    text += decoder.decode(value.subarray(0, valueSizeMax - size), { stream: true });
    size += value.length;
  }
  reader.cancel();
  return { text, isCut: true };
}

// JSON on several lines; JSON.parse would round large numbers, and takes no text that was cut.
function indented(json) {
  let depth = 0;
  const line = (change) => `\n${"  ".repeat(Math.min(depth += change, 16))}`;
  return json.trim().replace(/"(?:[^"\\]+|\\.)*"?|\{\s*\}|\[\s*\]|[{}[\],:]\s*/g, (token) => {
    const sign = token.trim();
    if (sign === "{" || sign === "[") return sign + line(1);
    if (sign === "}" || sign === "]") return line(-1) + sign;
    if (sign === ",") return sign + line(0);
    return sign === ":" ? ": " : token;
  });
}

// MARK: Metrics

async function loadMetrics(signal) {
  try {
    showMetrics(samples(await (await ask("/metrics", soon(signal))).text()));
    note("metrics-note", null);
  } catch (error) {
    if (![403, 404].includes(error.status)) throw error;
    showMetrics([]);
    const refused = "Your key may not see the metrics: they need the right to administer all replicas.";
    note("metrics-note", error.status === 403 ? refused : "This server keeps no metrics.");
  }
}

function samples(exposition) {
  return [...exposition.matchAll(/^((\w+)(?:\{(.*)\})?) (\S+)$/gm)].map(([, text, name, labels = "", value]) => {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((pair) => pair.slice(1));
    return { name, text, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

function showMetrics(all) {
  const named = (name) => all.filter((sample) => sample.name === name);
  const requests = named("godwit_server_requests_total");
  const buckets = named("godwit_server_request_seconds_bucket");
  const [streams] = named("godwit_server_streams");
  const others = all.filter(({ name }) => !/^godwit_server_(request|streams)|_bucket$/.test(name));
  const routes = [...new Set(requests.map(({ labels }) => labels.route))].sort();
  fill("metrics", routes.map((route) => {
    const own = ({ labels }) => labels.route === route;
    return routeRow(route, requests.filter(own), buckets.filter(own));
  }));
  note("streams", streams && `Devices that follow: ${streams.value}, and this page counts as one while it is live.`);
  fill("other-metrics", others.map(({ text, value }) => row([element("td", [text], { class: "id" }), value])));
  $("others").hidden = others.length === 0;
}

function routeRow(route, answers, buckets) {
  const count = (digit) => answers.filter(({ labels }) => labels.status.startsWith(digit))
    .reduce((sum, { value }) => sum + value, 0);
  const cells = [route, count(""), count("4"), count("5"), quantile(buckets, 0.5), quantile(buckets, 0.99)];
  return row(cells, count("5") > 0 ? { class: "bad" } : {});
}

// The bound up to which a part of all values lies.
function quantile(buckets, part) {
  const total = buckets.at(-1)?.value;
  if (!total) return "–";
  const index = buckets.findIndex(({ value }) => value >= part * total);
  const isBeyond = buckets[index].labels.le === "+Inf";
  const seconds = Number(buckets[isBeyond ? index - 1 : index]?.labels.le ?? 0);
  return (isBeyond ? "> " : "≤ ") + (seconds < 1 ? `${+(seconds * 1_000).toFixed(2)} ms` : `${seconds} s`);
}

// MARK: The page

async function loadHealth(signal) {
  const response = await fetch("/health/ready", { signal: soon(signal), cache: "no-store" });
  if (!response.ok) throw refusal(response, { error: "storeFailed" });
}

// Loads everything once, and returns the first error.
async function refresh(signal) {
  let problem = null;
  for (const load of [loadHealth, loadReplicas, loadDetail, loadMetrics]) {
    try {
      await load(signal);
    } catch (error) {
      if (signal.aborted || error.status === 401) return error;
      problem ??= error;
      if (!error.status || error.status === 429) break;
    }
  }
  return problem;
}

async function start() {
  stop();
  if (document.hidden || !$("signin").hidden) return;
  const { signal } = page.visit;
  if (page.selected !== null && !page.isPaused) follow(signal);
  do {
    const problem = await refresh(signal);
    if (signal.aborted) return;
    if (problem?.status === 401) return signIn(problem);
    $("forget").hidden = page.token === null;
    if (problem) say(explanation(problem), "bad");
    else say(page.isPaused ? "Paused." : "The server works.", page.isPaused ? "" : "good");
    await sleep(Math.max(refreshEvery, problem?.wait ?? 0));
  } while (!signal.aborted && !page.isPaused);
}

function stop() {
  page.visit.abort();
  page.visit = new AbortController();
  write("live", "Not live.");
}

function select() {
  page.selected = location.hash.slice(1) || null;
  write("detail-title", page.selected ?? "");
  $("detail").hidden = page.selected === null;
  $("detail-body").hidden = true;
  for (const id of ["detail-note", "value", "value-note"]) note(id, null);
  showReplicas();
  start();
}

// Shows the form, and nothing of what an earlier token has read.
function signIn(refused) {
  page.token = null;
  page.replicas = [];
  sessionStorage.removeItem(tokenKey);
  $("content").hidden = $("forget").hidden = true;
  $("signin").hidden = false;
  for (const table of ["clients", "metrics", "other-metrics"]) fill(table, []);
  select();
  $("token").focus();
  if (!refused || refused.code === "tokenRequired") say("This server asks for a key.");
  else say(`The server refuses: ${refused.message}. Get another one.`, "bad");
}

$("signin").addEventListener("submit", (event) => {
  event.preventDefault();
  page.token = $("token").value;
  sessionStorage.setItem(tokenKey, page.token);
  $("token").value = "";
  $("signin").hidden = true;
  start();
});
$("forget").addEventListener("click", () => signIn());
$("pause").addEventListener("click", () => {
  page.isPaused = !page.isPaused;
  write("pause", page.isPaused ? "Resume" : "Pause");
  if (!page.isPaused) return start();
  stop();
  if ($("signin").hidden) say("Paused.");
});
$("more").addEventListener("click", () => {
  page.wanted += pageSize;
  start();
});
$("show").addEventListener("click", showValue);
$("filter").addEventListener("input", showReplicas);
// The hash is free for the name of a replica, which may be "main".
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});
window.addEventListener("hashchange", () => {
  select();
  $("detail-title").focus();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) stop();
  else if (!page.isPaused) start();
});
select();
