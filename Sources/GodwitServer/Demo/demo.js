// A shopping list that several people edit, with or without a network.

import { Replica } from "/demo/godwit.js";

const collection = "items";
const $ = (id) => document.getElementById(id);
// Each device of the address has a list of its own, so that two of them can be looked at side by side.
const device = new URLSearchParams(location.search).get("device") ?? "";
const list = await Replica.open("shopping", { device });

// MARK: Showing

function element(tag, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
}

function row(key) {
  const box = element("input", { type: "checkbox", className: "crossed" });
  const name = element("input", { type: "text", className: "name", autocomplete: "off", maxLength: 200 });
  const remove = element("button", { type: "button", className: "remove" }, "Remove");
  box.addEventListener("change", () => save(list.merge(collection, key, { crossed: box.checked })));
  name.addEventListener("change", () => {
    if (name.value.trim()) save(list.merge(collection, key, { name: name.value.trim() }));
    else draw();
  });
  remove.addEventListener("click", () => {
    const next = made.nextElementSibling ?? made.previousElementSibling;
    (next?.querySelector("input") ?? $("new")).focus();
    save(list.remove(collection, key));
  });
  const made = element("li", {}, box, name, remove);
  made.dataset.key = key;
  return made;
}

function fill(row, { name, crossed }) {
  const [box, field, remove] = row.children;
  box.checked = Boolean(crossed);
  box.ariaLabel = `${name}: bought`;
  field.ariaLabel = "Name";
  remove.ariaLabel = `Remove ${name}`;
  row.classList.toggle("done", box.checked);
  // Not while a person types.
  if (document.activeElement !== field && field.value !== name) field.value = name;
}

// Rows stay where they are if their items do, and so does the focus.
function draw() {
  const items = Array.from(list.objects(collection)).filter(([, item]) => typeof item?.name === "string");
  items.sort(([a, x], [b, y]) => x.name.localeCompare(y.name) || (a < b ? -1 : 1));
  const rows = new Map(Array.from($("items").children, (row) => [row.dataset.key, row]));
  const wanted = items.map(([key, item]) => {
    const made = rows.get(key) ?? row(key);
    fill(made, item);
    return made;
  });
  const keys = new Set(items.map(([key]) => key));
  for (const [key, row] of rows) if (!keys.has(key)) row.remove();
  wanted.forEach((row, index) => {
    const there = $("items").children[index];
    if (there !== row) $("items").insertBefore(row, there ?? null);
  });
  $("empty").hidden = items.length > 0;
  showStatus();
}

function showStatus() {
  const count = list.pendingCount;
  const waiting = count === 0 ? "" : ` ${count} ${count === 1 ? "change waits" : "changes wait"} to be sent.`;
  const [text, kind] =
    $("offline").checked ? ["Offline, as you asked.", ""]
    : list.error?.status ? [`The server refuses: ${list.error.message}.`, "bad"]
    : list.error || !list.isConnected ? ["No connection to the server.", "bad"]
    : [count === 0 ? "In sync." : "Sending.", "good"];
  if ($("status").textContent !== text + waiting) $("status").textContent = text + waiting;
  $("status").className = kind;
}

// MARK: Editing

// Pages without TLS have no crypto.randomUUID.
const newName = (size) =>
  Array.from(crypto.getRandomValues(new Uint8Array(size)), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function save(edit) {
  try {
    await edit;
  } catch (error) {
    $("status").textContent = `This browser could not store the change: ${error.message}.`;
    $("status").className = "bad";
  }
}

$("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = $("new").value.trim();
  if (!name) return;
  $("new").value = "";
  save(list.set(collection, newName(16), { name, crossed: false }));
});

// All tabs of a device are offline together.
const offlineKey = `godwit-offline ${device}`;

function goOnOrOff() {
  $("offline").checked = localStorage.getItem(offlineKey) !== null;
  if ($("offline").checked) list.stop();
  else list.run();
  showStatus();
}

$("offline").addEventListener("change", () => {
  if ($("offline").checked) localStorage.setItem(offlineKey, "");
  else localStorage.removeItem(offlineKey);
  goOnOrOff();
});
addEventListener("storage", goOnOrOff);

list.addEventListener("change", draw);
list.addEventListener("rejected", ({ detail }) => {
  $("rejected").textContent = `The server did not take ${detail.length} of your changes: ${detail[0].reason}.`;
  $("rejected").hidden = false;
});
$("other").href = `?device=${newName(2)}`;
goOnOrOff();
draw();
navigator.serviceWorker?.register("/demo-worker.js", { scope: "/demo" }).catch(() => {});
