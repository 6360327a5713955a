// The dashboard: it reads what the server tells every client, with the key of the person who looks.

const refreshEvery = 5_000;
const valueSizeMax = 200_000;
const $ = (id) => document.getElementById(id);

const state = {
  token: sessionStorage.getItem("godwit-token"),
  pages: 1,
  replicas: [],
  selected: null,
  isPaused: false,
  events: null,
};

class Refusal extends Error {
  constructor(status, body) {
    super(body.message ?? `The server answered ${status}.`);
    this.status = status;
  }
}

// MARK: Asking

async function ask(path, { signal } = {}) {
  const headers = state.token ? { authorization: `Bearer ${state.token}` } : {};
  const response = await fetch(path, { headers, signal, cache: "no-store" });
  if (response.ok) return response;
  throw new Refusal(response.status, await response.json().catch(() => ({})));
}

const askJSON = async (path) => (await ask(path)).json();
const replicaPath = (name) => `/v1/replicas/${encodeURIComponent(name)}`;

async function loadReplicas() {
  const all = [];
  let next = "";
  for (let page = 0; page < state.pages && next !== null; page++) {
    const answer = await askJSON(`/v1/replicas?limit=100&after=${encodeURIComponent(next)}`);
    all.push(...answer.replicas);
    next = answer.next;
  }
  state.replicas = all;
  $("more").hidden = next === null;
}

// MARK: Showing

function cell(content, className) {
  const td = document.createElement("td");
  td.append(content);
  if (className) td.className = className;
  return td;
}

function fill(table, rows) {
  // A reader of the screen keeps its place if nothing has changed.
  const body = $(table).tBodies[0];
  const fresh = document.createElement("tbody");
  fresh.append(...rows);
  if (!body.isEqualNode(fresh)) {
    const focused = body.contains(document.activeElement) ? document.activeElement.hash : null;
    body.replaceWith(fresh);
    if (focused) [...fresh.querySelectorAll("a")].find((a) => a.hash === focused)?.focus();
  }
  $(table).hidden = rows.length === 0;
}

function row(cells, { isBad = false, isCurrent = false } = {}) {
  const tr = document.createElement("tr");
  tr.append(...cells);
  if (isBad) tr.className = "bad";
  if (isCurrent) tr.setAttribute("aria-current", "true");
  return tr;
}

function note(id, text) {
  $(id).textContent = text ?? "";
  $(id).hidden = !text;
}

function say(text, isBad = false) {
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").className = isBad ? "bad" : "";
}

function showReplicas() {
  const wanted = $("filter").value.trim().toLowerCase();
  const found = state.replicas.filter((replica) => replica.name.toLowerCase().includes(wanted));
  fill("replicas", found.map((replica) => {
    const link = document.createElement("a");
    link.href = `#${encodeURIComponent(replica.name)}`;
    link.textContent = replica.name;
    const cells = [link, replica.serial, replica.objects, replica.clients];
    return row(cells.map((content) => cell(content)), { isCurrent: replica.name === state.selected });
  }));
  $("none").hidden = state.replicas.length > 0;
}

function duration(seconds) {
  const units = [["d", 86_400], ["h", 3_600], ["min", 60]];
  const unit = units.find(([, size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[1])} ${unit[0]}` : `${seconds} s`;
}

async function showDetail() {
  const name = state.selected;
  $("detail").hidden = name === null;
  if (name === null) return;
  const replica = await askJSON(replicaPath(name));
  if (name !== state.selected) return;
  $("detail-title").textContent = name;
  const facts = [
    ["State", replica.serial], ["Id", replica.head], ["Objects", replica.objects],
    ["States kept", replica.states],
  ];
  $("facts").replaceChildren(...facts.flatMap(([term, fact]) => {
    const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
    dt.textContent = term;
    dd.textContent = fact;
    return [dt, dd];
  }));
  await showClients(name);
}

async function showClients(name) {
  try {
    const { serial, clients } = await askJSON(`${replicaPath(name)}/clients`);
    if (name !== state.selected) return;
    clients.sort((one, other) => one.silentSeconds - other.silentSeconds);
    fill("clients", clients.map((client) => {
      const behind = client.isForgotten ? "compares" : serial - client.serial;
      return row([cell(client.id, "id"), cell(behind), cell(duration(client.silentSeconds))]);
    }));
    note("clients-note", clients.length === 0 ? "No device has sent a change yet." : null);
  } catch (error) {
    if (error.status !== 403) throw error;
    fill("clients", []);
    note("clients-note", "Your key may not administer this replica, and does not see its devices.");
  }
}

async function showValue() {
  const name = state.selected;
  try {
    const text = JSON.stringify(await askJSON(`${replicaPath(name)}/value`), null, 2);
    if (name !== state.selected) return;
    $("value").textContent = text.slice(0, valueSizeMax);
    $("value").hidden = false;
    const isCut = text.length > valueSizeMax;
    note("value-note", isCut ? `The first ${valueSizeMax} of ${text.length} characters:` : null);
  } catch (error) {
    failed(error);
  }
}

// MARK: Metrics

function parse(text) {
  const pattern = /^(\w+?)(?:\{(.*)\})? (\S+)$/;
  return text.split("\n").map((line) => pattern.exec(line)).filter(Boolean).map((match) => ({
    name: match[1],
    labels: Object.fromEntries([...(match[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map((pair) => pair.slice(1))),
    value: Number(match[3]),
  }));
}

// The bucket in which a part of all values lies, in the histogram of one route.
function quantile(buckets, part) {
  const total = buckets.at(-1)?.value ?? 0;
  const found = buckets.find((bucket) => bucket.value >= part * total);
  if (!total || !found) return "–";
  const bound = found.labels.le;
  return bound === "+Inf" ? "> 10 s" : `≤ ${+(bound * 1_000).toFixed(2)} ms`;
}

async function showMetrics() {
  let samples;
  try {
    samples = parse(await (await ask("/metrics")).text());
  } catch (error) {
    if (![403, 404].includes(error.status)) throw error;
    fill("metrics", []);
    note("streams", null);
    note("metrics-note", error.status === 403 ? "Your key may not see the server's metrics." : "This server keeps no metrics.");
    return;
  }
  const requests = samples.filter((sample) => sample.name === "godwit_server_requests_total");
  const routes = [...new Set(requests.map((sample) => sample.labels.route))].sort();
  fill("metrics", routes.map((route) => {
    const own = (sample) => sample.labels.route === route;
    const sum = (list) => list.reduce((total, sample) => total + sample.value, 0);
    const answers = requests.filter(own);
    const failures = sum(answers.filter((sample) => Number(sample.labels.status) >= 500));
    const buckets = samples.filter((sample) => sample.name === "godwit_server_request_seconds_bucket" && own(sample));
    const cells = [route, sum(answers), failures, quantile(buckets, 0.5), quantile(buckets, 0.99)];
    return row(cells.map((content) => cell(content)), { isBad: failures > 0 });
  }));
  const streams = samples.find((sample) => sample.name === "godwit_server_streams");
  note("streams", streams && `Devices that follow: ${streams.value}`);
  note("metrics-note", null);
}

// MARK: Following

// EventSource sends no key.
async function follow(name) {
  state.events?.abort();
  state.events = name === null ? null : new AbortController();
  const { signal } = state.events ?? {};
  for (let attempts = 0; signal && !signal.aborted; attempts++) {
    try {
      const reader = (await ask(`${replicaPath(name)}/events`, { signal })).body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        attempts = 0;
        if (new TextDecoder().decode(value).includes("event: head") && !state.isPaused) await refresh();
      }
    } catch (error) {
      if (signal.aborted || [401, 403, 404].includes(error.status)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 1_000 * 2 ** attempts)));
  }
}

// MARK: The page

function failed(error) {
  if (error.status === 401) return signIn(state.token !== null);
  if (error.status === 404 && state.selected !== null) {
    return say(`There is no replica “${state.selected}”, or your key may not read it.`, true);
  }
  const text = error instanceof Refusal ? error.message : "The server cannot be reached. Trying again…";
  say(text, true);
}

function signIn(wasRefused) {
  sessionStorage.removeItem("godwit-token");
  state.token = null;
  $("signin").hidden = false;
  $("content").hidden = $("forget").hidden = true;
  follow(null);
  say(wasRefused ? "The server does not take this key." : "This server asks for a key.", wasRefused);
}

async function refresh() {
  if (!$("signin").hidden) return;
  try {
    await loadReplicas();
    $("content").hidden = false;
    $("forget").hidden = state.token === null;
    showReplicas();
    await showDetail();
    await showMetrics();
    const isReady = (await fetch("/health/ready", { cache: "no-store" })).ok;
    say(isReady ? "The server works." : "The server cannot write to its store: see its log.", !isReady);
  } catch (error) {
    failed(error);
  }
}

async function select() {
  const name = decodeURIComponent(location.hash.slice(1));
  // The link that leads past the header is no replica.
  if (name === "main") return;
  state.selected = name || null;
  $("value").hidden = true;
  note("value-note", null);
  await refresh();
  follow($("signin").hidden ? state.selected : null);
}

$("signin").addEventListener("submit", (event) => {
  event.preventDefault();
  state.token = $("token").value.trim();
  sessionStorage.setItem("godwit-token", state.token);
  $("token").value = "";
  $("signin").hidden = true;
  say("Loading…");
  select();
});
$("forget").addEventListener("click", () => signIn(false));
$("pause").addEventListener("click", () => {
  state.isPaused = !state.isPaused;
  $("pause").setAttribute("aria-pressed", state.isPaused);
  if (!state.isPaused) refresh();
});
$("more").addEventListener("click", () => {
  state.pages++;
  refresh();
});
$("show").addEventListener("click", showValue);
$("filter").addEventListener("input", showReplicas);
$("origin").textContent = location.origin;
window.addEventListener("hashchange", select);
setInterval(() => {
  if (!document.hidden && !state.isPaused) refresh();
}, refreshEvery);
select();
