// A client of a Godwit server, for pages in a browser: it works offline, and ends up in sync.
//
//     const list = await Replica.open("shopping");
//     list.addEventListener("change", () => draw(list.objects("items")));
//     list.run();
//     await list.merge("items", "wine", { crossed: true });
//
// An edit is in IndexedDB when its promise resolves, and is sent when the server can be reached. The server
// merges it with what others have changed meanwhile. All tabs of a browser are one device: one of them talks
// to the server, and the others see what it does; `device` names another one. A replica is kept as one record,
// so this client is for replicas of up to some thousand objects.
//
// The messages are described in Godwit's Documentation/formats.md, under "Exchange in JSON".

// MARK: Values

const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// What a merge patch (RFC 7386) makes of a value.
export function patched(value, patch) {
  if (!isMap(patch)) return patch;
  const fields = new Map(Object.entries(isMap(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) fields.delete(name);
    else fields.set(name, patched(fields.get(name), change));
  }
  return Object.fromEntries(fields);
}

// One merge patch for two that follow each other; undefined where no patch says both, because a map takes the
// place of a field that was removed or replaced.
function combinedPatch(first, second) {
  const fields = new Map(Object.entries(first));
  for (const [name, change] of Object.entries(second)) {
    const earlier = fields.get(name);
    if (!isMap(change) || earlier === undefined) {
      fields.set(name, change);
      continue;
    }
    const both = isMap(earlier) ? combinedPatch(earlier, change) : undefined;
    if (both === undefined) return undefined;
    fields.set(name, both);
  }
  return Object.fromEntries(fields);
}

// One edit for two of an object that follow each other.
//
// `object` is the object before the first one.
function combined(object, first, second) {
  if (!("merge" in second)) return second;
  const merge = "merge" in first && isMap(first.merge) && isMap(second.merge)
    ? combinedPatch(first.merge, second.merge) : undefined;
  const { collection, key } = second;
  if (merge !== undefined) return { collection, key, merge };
  const { value } = edited(edited(object, first), second);
  return { collection, key, value };
}

// The object after an edit; undefined for none.
function edited(object, edit) {
  if (edit.removed) return undefined;
  const version = object?.version ?? 1;
  if ("value" in edit) return { version, value: edit.value };
  return { version, value: patched(object?.value ?? null, edit.merge) };
}

// MARK: The state of a replica

const random = (count) => crypto.getRandomValues(new Uint8Array(count));
const randomName = () => new DataView(random(4).buffer).getUint32(0);

export const newState = () => ({
  // The device's id for the server.
  client: Array.from(random(16), (byte) => byte.toString(16).padStart(2, "0")).join(""),
  // Grows with each request.
  nonce: 0,
  // That of the last request whose answer was taken in.
  received: 0,
  // The number of the last batch of edits that the server has answered.
  sequence: 0,
  // The server's name for the objects below; null before the first answer.
  at: null,
  // The server's objects: collection → key → { version, value }.
  objects: new Map(),
  // Edits that are on their way, as they are sent until their outcome is known.
  sent: null,
  // Edits since then, at most one for each object.
  edits: [],
  // Edits that the server does not take: they stay on this device, and are not sent.
  refused: [],
});

const edits = (state) => [...state.refused, ...(state.sent?.changes ?? []), ...state.edits];

// The objects of a collection, with the edits: a map of values by key.
export function objects(state, collection) {
  const objects = new Map(state.objects.get(collection));
  for (const edit of edits(state)) {
    if (edit.collection !== collection) continue;
    const object = edited(objects.get(edit.key), edit);
    if (object) objects.set(edit.key, object);
    else objects.delete(edit.key);
  }
  return new Map(Array.from(objects, ([key, { value }]) => [key, value]));
}

function place(objects, { collection, key }, object) {
  if (!objects.has(collection)) objects.set(collection, new Map());
  if (object) objects.get(collection).set(key, object);
  else objects.get(collection).delete(key);
}

const isAbout = ({ collection, key }) => (other) => other.collection === collection && other.key === key;

// An edit of an object takes along what was refused of it before.
export function addEdit(state, edit) {
  const object = state.objects.get(edit.collection)?.get(edit.key);
  const sent = state.sent?.changes.find(isAbout(edit));
  const base = sent ? edited(object, sent) : object;
  const earlier = [...state.refused, ...state.edits].filter(isAbout(edit));
  const all = [...earlier, edit].reduce((first, second) => combined(base, first, second));
  for (const list of ["refused", "edits"]) state[list] = state[list].filter((other) => !isAbout(edit)(other));
  state.edits.push(all);
}

// Has what the server has refused sent once more: a right may have been granted.
export function releaseRefused(state) { takeBack(state, state.refused.splice(0)); }

// Puts edits that were sent before those that came since.
function takeBack(state, changes) {
  const later = state.edits;
  state.edits = [];
  for (const edit of [...changes, ...later]) addEdit(state, edit);
}

const batchMax = 500;

// The next request. Edits are frozen into a batch, which stays as it is until its outcome is known: if the
// answer is lost, the server recognises the batch. A device without objects asks for them first.
export function nextRequest(state) {
  state.nonce += 1;
  if (!state.sent && state.at && state.edits.length > 0) {
    const changes = state.edits.splice(0, state.batchMax ?? batchMax);
    state.sent = { sequence: state.sequence + 1, name: randomName(), changes };
  }
  return { nonce: state.nonce, state: state.at, batch: state.at ? state.sent : null };
}

// Takes an answer in. Returns the edits that the server has refused, with the reason of each.
export function receive(state, request, answer) {
  state.nonce = Math.max(state.nonce, answer.nonce);
  // Another copy of this device was faster, or another tab has taken a later answer in.
  if (answer.status === "stale" || request.nonce < state.received) return [];
  state.received = request.nonce;
  const { outcome } = answer;
  let rejected = [];
  state.sequence = outcome?.sequence ?? 0;
  if (state.sent && outcome?.sequence === state.sent.sequence && outcome.name === state.sent.name) {
    // If one object is refused, no other one of its batch is taken.
    if (outcome.rejected.length > 0) rejected = setAside(state, outcome.rejected);
    else state.sent = null;
    state.batchMax = undefined;
  } else if (state.sent && state.sent.sequence !== state.sequence + 1) {
    // The server was restored from a backup, or has forgotten this device.
    state.sent = { ...state.sent, sequence: state.sequence + 1, name: randomName() };
  }
  if (answer.status === "unknownState") {
    state.at = null;
    return rejected;
  }
  const old = state.objects;
  if (!request.state) state.objects = new Map();
  for (const change of answer.changes) {
    const { version, value } = change;
    place(state.objects, change, change.removed ? undefined : { version, value });
  }
  if (!request.state) dropEditsOfRemoved(state, old);
  state.at = answer.state;
  return rejected;
}

// Keeps the edits of refused objects here, and has the others sent again.
function setAside(state, refusals) {
  const { changes } = state.sent;
  state.sent = null;
  const reason = (edit) => refusals.find(isAbout(edit))?.reason;
  const isLater = (edit) => state.edits.some(isAbout(edit));
  const refused = changes.filter((edit) => reason(edit) && !isLater(edit));
  // An edit since then may have made an object right.
  takeBack(state, changes.filter((edit) => !reason(edit) || isLater(edit)));
  state.refused.push(...refused);
  return refused.map((edit) => ({ ...edit, reason: reason(edit) }));
}

// The server refuses a whole message, and will again: a batch of several edits is halved, so that those which
// it takes get through. One that lacks a right keeps all of them here.
export function refuse(state, request, { status, code: reason = String(status) }) {
  if (!request.batch || state.sent?.name !== request.batch.name) return [];
  const { changes } = state.sent;
  const isAll = status === 403 || changes.length === 1;
  if (isAll) return setAside(state, changes.map((edit) => ({ ...edit, reason })));
  state.batchMax = Math.ceil(changes.length / 2);
  state.sent = null;
  takeBack(state, changes);
  return [];
}

// A merge patch of an object that others have removed would make it again, without its other fields.
function dropEditsOfRemoved(state, old) {
  const has = (objects, { collection, key }) => objects.get(collection)?.has(key) ?? false;
  const stays = (edit) => !("merge" in edit) || has(state.objects, edit) || !has(old, edit);
  if (state.sent) state.sent.changes = state.sent.changes.filter(stays);
  state.edits = state.edits.filter(stays);
  state.refused = state.refused.filter(stays);
}

export const isInSync = (state) => Boolean(state.at) && !state.sent && state.edits.length === 0;

// MARK: The replica

const retryAfterMin = 500;
const retryAfterMax = 30_000;
// For how long a server may be silent; it says every 20 seconds that it is there.
const silenceMax = 60_000;
// What a server says of a message that it will not take later either.
const lastingRefusals = [400, 403, 413, 422];

export class Replica extends EventTarget {
  // Whether the server tells of changes as they come, and why the last request failed.
  isConnected = false;
  error = null;

  #server;
  #name;
  #token;
  // What tells this device's replica from others of the browser.
  #id;
  #database;
  #channel;
  #state;
  #running = null;
  // Whether this tab talks to the server, for all tabs of the device.
  #isTalking = false;
  #wake = () => {};
  #woken = null;
  // The newest state of which the server has told.
  #head = null;
  // Whether the server was there again since the last exchange.
  #isNew = true;

  // Opens the replica as this browser has it; the server need not be there.
  //
  // It tells of a "change" when objects or status are others, and of "rejected", with the edits and their reasons
  // in `detail`, when the server refuses some: they stay here, and are sent again with the next edit of the object,
  // or when the replica runs anew.
  static async open(name, { server = location.origin, token = null, device = "" } = {}) {
    const replica = new Replica();
    replica.#server = server;
    replica.#name = name;
    replica.#token = token;
    replica.#id = `godwit ${server} ${name} ${device}`;
    replica.#database = await new Promise((resolve, reject) => {
      const request = indexedDB.open("godwit", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("replicas");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    replica.#channel = new BroadcastChannel(replica.#id);
    replica.#channel.onmessage = ({ data }) => replica.#hear(data);
    replica.#arm();
    await replica.#update(null);
    replica.#channel.postMessage({ asks: true });
    return replica;
  }

  // The objects of a collection, with this device's edits: a map of values by key.
  objects(collection) { return objects(this.#state, collection); }

  // How many objects have edits that the server does not have yet, without those that it refuses.
  get pendingCount() {
    const { sent, edits } = this.#state;
    const places = [...(sent?.changes ?? []), ...edits].map(({ collection, key }) => JSON.stringify([collection, key]));
    return new Set(places).size;
  }

  // Stores a value as an object, whatever was there.
  set(collection, key, value) { return this.#edit({ collection, key, value }); }

  // Changes some fields of an object: a merge patch, in which null removes a field. Fields that others change
  // meanwhile stay as they make them.
  merge(collection, key, patch) { return this.#edit({ collection, key, merge: patch }); }

  remove(collection, key) { return this.#edit({ collection, key, removed: true }); }

  async #edit(edit) {
    // What JSON does not have is an error here, and not later.
    const text = JSON.stringify(edit, (_, value) => {
      if (typeof value !== "string" || value.isWellFormed()) return value;
      throw new TypeError("a text is cut within a character");
    });
    await this.#update((state) => addEdit(state, JSON.parse(text)));
    this.#channel.postMessage({ hasEdits: true });
  }

  // Takes news of another tab in.
  #hear({ asks, status }) {
    if (asks) return this.#tell();
    if (status && !this.#isTalking) Object.assign(this, status);
    this.#update(null);
  }

  // Tells the other tabs how this one gets on with the server.
  #tell() {
    if (!this.#isTalking) return;
    const error = this.error && { status: this.error.status, message: this.error.message };
    this.#channel.postMessage({ status: { isConnected: this.isConnected, error } });
  }

  // Reads the state, changes it, and stores it, in one transaction; all tabs see the same.
  async #update(body) {
    const result = await new Promise((resolve, reject) => {
      const mode = body ? "readwrite" : "readonly";
      const transaction = this.#database.transaction("replicas", mode, { durability: "strict" });
      const replicas = transaction.objectStore("replicas");
      let [state, result] = [null, undefined];
      replicas.get(this.#id).onsuccess = ({ target }) => {
        state = target.result ?? newState();
        if (!body) return;
        result = body(state);
        replicas.put(state, this.#id);
      };
      transaction.oncomplete = () => {
        this.#state = state;
        resolve(result);
      };
      transaction.onabort = () => reject(transaction.error);
    });
    this.#wake();
    this.#changed();
    return result;
  }

  #changed() { this.dispatchEvent(new Event("change")); }

  #note(status) {
    Object.assign(this, status);
    this.#tell();
    this.#changed();
  }

  // MARK: Talking to the server

  // Keeps the replica in sync until `stop()`. In the other tabs it waits for its turn.
  run() {
    if (this.#running) return;
    this.#running = new AbortController();
    const { signal } = this.#running;
    const talk = async () => {
      this.#isTalking = true;
      if (this.#state.refused.length > 0) await this.#update(releaseRefused);
      await Promise.all([this.#exchanging(signal), this.#following(signal)]);
      if (this.#running?.signal === signal) this.#isTalking = false;
    };
    // Without locks, as in a page without TLS, each tab talks: the server takes one after the other.
    const turn = navigator.locks ? navigator.locks.request(this.#id, { signal }, talk) : talk();
    turn.catch(() => {});
  }

  stop() {
    this.#running?.abort();
    this.#running = null;
    this.#wake();
    this.#isTalking = false;
    this.#note({ isConnected: false, error: null });
  }

  #arm() {
    this.#woken = new Promise((resolve) => { this.#wake = resolve; });
  }

  // Sends what is to be sent, and asks for what is new, whenever something is.
  async #exchanging(signal) {
    for (let wait = retryAfterMin; !signal.aborted;) {
      this.#arm();
      try {
        if (!isInSync(this.#state) || this.#isBehind) await this.#exchange(signal);
        else await this.#woken;
        wait = retryAfterMin;
      } catch (error) {
        if (signal.aborted) return;
        this.#note({ error });
        await pause(Math.max(wait, error.wait ?? 0), signal);
        wait = Math.min(retryAfterMax, 2 * wait);
      }
    }
  }

  get #isBehind() { return this.#isNew || this.#head !== null && this.#head !== this.#state.at?.serial; }

  async #exchange(signal) {
    const head = this.#head;
    const request = await this.#update(nextRequest);
    this.#isNew = false;
    const headers = { "content-type": "application/json", "godwit-client": this.#state.client };
    const body = JSON.stringify(request);
    let rejected;
    try {
      const answer = JSON.parse(await this.#text("exchange", signal, { method: "POST", headers, body }));
      rejected = await this.#update((state) => receive(state, request, answer));
      // A server that was restored is where an older head was.
      if (answer.status === "stale") this.#isNew = true;
      else if (head === this.#head) this.#head = null;
      this.#note({ error: null });
    } catch (error) {
      this.#isNew = true;
      if (!request.batch || !lastingRefusals.includes(error.status)) throw error;
      rejected = await this.#update((state) => refuse(state, request, error));
    }
    if (rejected.length > 0) this.dispatchEvent(new CustomEvent("rejected", { detail: rejected }));
  }

  // Listens to the server's events; it says when there is a new state.
  async #following(signal) {
    for (let wait = retryAfterMin; !signal.aborted; wait = Math.min(retryAfterMax, 2 * wait)) {
      let asked = 0;
      try {
        this.#isNew = true;
        let rest = "";
        for await (const text of this.#parts("events", signal)) {
          const events = (rest + text).split("\n\n");
          rest = events.pop();
          wait = retryAfterMin;
          const serials = events.flatMap((event) => event.match(/^id: (\d+)$/m)?.slice(1) ?? []);
          if (serials.length > 0) this.#head = Number(serials.at(-1));
          this.#wake();
          if (!this.isConnected) this.#note({ isConnected: true });
        }
        this.#note({ isConnected: false });
      } catch (error) {
        if (signal.aborted) return;
        asked = error.wait ?? 0;
        this.#note({ isConnected: false, error });
      }
      await pause(Math.max(wait, asked), signal);
    }
  }

  async #text(path, signal, options) {
    let all = "";
    for await (const text of this.#parts(path, signal, options)) all += text;
    return all;
  }

  // The parts of an answer; an error if the server is silent for too long.
  async *#parts(path, signal, { headers = {}, ...options } = {}) {
    if (this.#token) headers.authorization = `Bearer ${this.#token}`;
    const url = `${this.#server}/v1/replicas/${encodeURIComponent(this.#name)}/${path}`;
    const silence = new AbortController();
    const end = () => silence.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    let timer;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new Error("the server is silent")), silenceMax);
    };
    try {
      heard();
      signal.throwIfAborted();
      const response = await fetch(url, { ...options, headers, cache: "no-store", signal: silence.signal });
      if (!response.ok) throw await refusal(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        yield value;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      silence.abort();
    }
  }
}

async function refusal(response) {
  const { error, message } = await response.json().catch(() => ({}));
  const wait = 1_000 * (Number(response.headers.get("retry-after")) || 0);
  return Object.assign(new Error(message ?? `it answered ${response.status}`), {
    status: response.status, code: error, wait,
  });
}

// Half of the time to all of it: the devices of a server that comes back do not ask all at once.
const pause = (time, signal) => new Promise((resolve) => {
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, time * (0.5 + Math.random() / 2));
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
});
