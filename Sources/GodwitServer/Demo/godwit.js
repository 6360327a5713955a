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

// One merge patch for two that follow each other.
function combinedPatch(first, second) {
  if (!isMap(first) || !isMap(second)) return second;
  const fields = new Map(Object.entries(first));
  for (const [name, change] of Object.entries(second)) {
    fields.set(name, fields.has(name) ? combinedPatch(fields.get(name), change) : change);
  }
  return Object.fromEntries(fields);
}

// One edit for two of an object that follow each other.
function combined(first, second) {
  if (!("merge" in second)) return second;
  const { merge, ...place } = second;
  if (first.removed) return { ...place, value: patched(null, merge) };
  if ("value" in first) return { ...place, value: patched(first.value, merge) };
  return { ...place, merge: combinedPatch(first.merge, merge) };
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
});

const edits = (state) => [...(state.sent?.changes ?? []), ...state.edits];

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

export function addEdit(state, edit) {
  const isSame = ({ collection, key }) => collection === edit.collection && key === edit.key;
  const index = state.edits.findIndex(isSame);
  if (index < 0) state.edits.push(edit);
  else state.edits[index] = combined(state.edits[index], edit);
}

// The next request. Edits are frozen into a batch, which stays as it is until its outcome is known: if the
// answer is lost, the server recognises the batch. A device without objects asks for them first.
export function nextRequest(state) {
  state.nonce += 1;
  if (!state.sent && state.at && state.edits.length > 0) {
    state.sent = { sequence: state.sequence + 1, name: randomName(), changes: state.edits };
    state.edits = [];
  }
  return { nonce: state.nonce, state: state.at, batch: state.at ? state.sent : null };
}

// Takes an answer in. Returns the objects that the server has refused, with the reason of each.
export function receive(state, request, answer) {
  state.nonce = Math.max(state.nonce, answer.nonce);
  // Another copy of this device was faster.
  if (answer.status === "stale") return [];
  const { outcome } = answer;
  let rejected = [];
  state.sequence = outcome?.sequence ?? 0;
  if (state.sent && outcome?.sequence === state.sent.sequence && outcome.name === state.sent.name) {
    rejected = outcome.rejected;
    state.sent = null;
  } else if (state.sent && state.sent.sequence !== state.sequence + 1) {
    // The server was restored from a backup, or has forgotten this device.
    state.sent = { ...state.sent, sequence: state.sequence + 1, name: randomName() };
  }
  if (answer.status === "unknownState") {
    state.at = null;
    return rejected;
  }
  if (!request.state) state.objects = new Map();
  for (const change of answer.changes) {
    const { version, value } = change;
    place(state.objects, change, change.removed ? undefined : { version, value });
  }
  state.at = answer.state;
  return rejected;
}

export const isInSync = (state) => Boolean(state.at) && !state.sent && state.edits.length === 0;

// MARK: The replica

const retryAfterMin = 500;
const retryAfterMax = 30_000;
const answerWithin = 30_000;

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

  // Opens the replica as this browser has it; the server need not be there.
  //
  // It tells of a "change" when objects or status are others, and of "rejected", with the objects in `detail`,
  // when the server refuses some.
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

  // How many objects have edits that the server does not have yet.
  get pendingCount() {
    const places = edits(this.#state).map(({ collection, key }) => JSON.stringify([collection, key]));
    return new Set(places).size;
  }

  // Stores a value as an object, whatever was there.
  set(collection, key, value) { return this.#edit({ collection, key, value }); }

  // Changes some fields of an object: a merge patch, in which null removes a field. Fields that others change
  // meanwhile stay as they make them.
  merge(collection, key, patch) { return this.#edit({ collection, key, merge: patch }); }

  remove(collection, key) { return this.#edit({ collection, key, removed: true }); }

  async #edit(edit) {
    await this.#update((state) => addEdit(state, edit));
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
        else await Promise.race([this.#woken, ended(signal)]);
        wait = retryAfterMin;
      } catch (error) {
        if (signal.aborted) return;
        this.#note({ error });
        await Promise.race([pause(Math.max(wait, error.wait ?? 0)), ended(signal)]);
        wait = Math.min(retryAfterMax, 2 * wait);
      }
    }
  }

  get #isBehind() { return this.#head !== null && this.#head !== this.#state.at?.serial; }

  async #exchange(signal) {
    const head = this.#head;
    const request = await this.#update(nextRequest);
    const headers = { "content-type": "application/json", "godwit-client": this.#state.client };
    const response = await this.#ask("exchange", signal, {
      method: "POST", headers, body: JSON.stringify(request),
    });
    const answer = await response.json();
    const rejected = await this.#update((state) => receive(state, request, answer));
    // A server that was restored is where an older head was.
    if (head === this.#head) this.#head = null;
    this.#note({ error: null });
    if (rejected.length > 0) this.dispatchEvent(new CustomEvent("rejected", { detail: rejected }));
  }

  // Listens to the server's events; it says when there is a new state.
  async #following(signal) {
    for (let wait = retryAfterMin; !signal.aborted; wait = Math.min(retryAfterMax, 2 * wait)) {
      try {
        const { body } = await this.#ask("events", signal);
        const reader = body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          const { done, value } = await reader.read();
          if (done) break;
          const events = (rest + value).split("\n\n");
          rest = events.pop();
          wait = retryAfterMin;
          const serials = events.flatMap((event) => event.match(/^id: (\d+)$/m)?.slice(1) ?? []);
          if (serials.length > 0) this.#head = Number(serials.at(-1));
          this.#wake();
          this.#note({ isConnected: true });
        }
        this.#note({ isConnected: false });
      } catch (error) {
        if (signal.aborted) return;
        this.#note({ isConnected: false, error });
      }
      await Promise.race([pause(wait), ended(signal)]);
    }
  }

  async #ask(path, signal, { headers = {}, ...options } = {}) {
    if (this.#token) headers.authorization = `Bearer ${this.#token}`;
    const url = `${this.#server}/v1/replicas/${encodeURIComponent(this.#name)}/${path}`;
    // A stream of events goes on for as long as the server is there.
    const limit = path === "events" ? [] : [AbortSignal.timeout(answerWithin)];
    const response = await fetch(url, {
      ...options, headers, cache: "no-store", signal: AbortSignal.any([signal, ...limit]),
    });
    if (response.ok) return response;
    const { error, message } = await response.json().catch(() => ({}));
    const wait = 1_000 * (Number(response.headers.get("retry-after")) || 0);
    throw Object.assign(new Error(message ?? `it answered ${response.status}`), {
      status: response.status, code: error, wait,
    });
  }
}

// Half of the time to all of it: the devices of a server that comes back do not ask all at once.
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time * (0.5 + Math.random() / 2)));

const ended = (signal) => new Promise((resolve) => {
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", resolve, { once: true });
});
