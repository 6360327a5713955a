import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitServer

/// The shopping list of `godwit serve --demo`, in Chromium.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct DemoPageTests {
    private let server: AccessServer
    private let items = Store.Collection<Value>("items")

    init() throws { server = try AccessServer() }

    private func serving(_ body: () async throws -> Void) async throws {
        try await server.serving(.open, hasDemo: true, body)
    }

    /// The list as a page shows it: a name for each item, with a mark for those that are bought.
    private func list(_ browser: Browser) async throws -> Value {
        try await browser.value(of: Self.list)
    }

    private static let list = """
        Array.from(document.querySelectorAll("#items li"), (row) => \
        (row.querySelector(".crossed").checked ? "✓ " : "") + row.querySelector(".name").value)
        """

    private func wait(_ browser: Browser, for list: [String]) async throws {
        let text = Value.list(Value.List(list.map { .string(Key($0)) })).jsonText()
        try await browser.wait(
            until: "JSON.stringify(\(Self.list)) === JSON.stringify(\(text))"
        )
    }

    private func clientCount() async throws -> Int64? {
        try await server.ask(.summary, nil).body["clients"]?.integer
    }

    private func box(_ name: String) -> String { #".crossed[aria-label="\#(name): bought"]"# }

    @Test func `two devices and an app have the same list, also after one was offline`()
        async throws
    {
        try await serving {
            let transport = try HTTPTransport(server: server.url)
            let app = try ReplicaConnector(Store(.memory), transport: transport)
            let shopping = try await app.open(ReplicaName("shopping"), collections: ["items"])
            try await app.store.write { [items] in
                try $0.set(
                    ["name": "Wine", "crossed": false, "shop": "corner"],
                    for: "w",
                    in: items
                )
            }
            try await app.synchronize(shopping.name)
            try await BrowserDriver.run(2) { browsers in
                let (phone, tablet) = (browsers[0], browsers[1])
                for browser in browsers {
                    try await browser.go(to: server.url + "/demo")
                    try await wait(browser, for: ["Wine"])
                    try await browser.wait(
                        until: ##"document.querySelector("#status").textContent === "In sync.""##
                    )
                }
                try await tablet.setOffline(true)
                try await tablet.click(box("Wine"))
                try await tablet.type("Rye\u{E007}", into: "#new")
                try await wait(tablet, for: ["Rye", "✓ Wine"])
                try await phone.type(" from Jura\u{E007}", into: ".name")
                try await phone.type("Bread\u{E007}", into: "#new")
                try await wait(phone, for: ["Bread", "Wine from Jura"])
                // The page and its edits are there without a network, too.
                try await tablet.reload()
                try await wait(tablet, for: ["Rye", "✓ Wine"])
                try await tablet.wait(
                    until:
                        ##"document.querySelector("#status").textContent.includes("2 changes wait")"##
                )
                try await tablet.setOffline(false)
                for browser in browsers {
                    try await wait(browser, for: ["Bread", "Rye", "✓ Wine from Jura"])
                }
                try await app.synchronize(shopping.name)
                let found = try await app.store.read { [items] in
                    (try $0.get("w", in: items), try $0.keys(in: items).count)
                }
                let wine: Value = ["name": "Wine from Jura", "crossed": true, "shop": "corner"]
                #expect(found.0 == wine && found.1 == 3)
            }
        }
    }

    @Test func `two tabs are one device, and the second goes on when the first is closed`()
        async throws
    {
        try await serving {
            try await BrowserDriver.run { browsers in
                let browser = browsers[0]
                try await browser.go(to: server.url + "/demo")
                try await browser.type("Wine\u{E007}", into: "#new")
                // Another tab, as far as IndexedDB, locks and channels are concerned.
                try await browser.value(
                    of: """
                        import("/demo/godwit.js").then(async ({ Replica }) => {
                            window.second = await Replica.open("shopping");
                            window.second.run();
                        })
                        """
                )
                try await browser.value(of: #"window.second.set("items", "b", { name: "Bread" })"#)
                try await wait(browser, for: ["Bread", "Wine"])
                try await browser.wait(until: "window.second.isConnected")
                try await browser.wait(until: "window.second.pendingCount === 0")
                #expect(try await clientCount() == 1)
                try await browser.click("#offline")
                try await browser.value(of: #"window.second.set("items", "r", { name: "Rye" })"#)
                try await browser.wait(until: "window.second.pendingCount === 0")
                try await wait(browser, for: ["Bread", "Rye", "Wine"])
                #expect(try await clientCount() == 1)
            }
        }
    }

    @Test func `it is used by keyboard alone, and on 360 pixels`() async throws {
        try await serving {
            try await BrowserDriver.run(size: (360, 640)) { browsers in
                let browser = browsers[0]
                try await browser.go(to: server.url + "/demo")
                let (tab, enter, space) = ("\u{E004}", "\u{E007}", " ")
                let name = "Pickled cucumbers in the large glass"
                // Past "Work offline".
                try await browser.press([tab, tab])
                try await browser.press(name.map { String($0) } + [enter])
                try await wait(browser, for: [name])
                // Past "Add".
                try await browser.press([tab, tab, space])
                try await wait(browser, for: ["✓ " + name])
                let width = try await browser.value(of: "document.documentElement.scrollWidth")
                #expect(width == 360)
                // Past the name.
                try await browser.press([tab, tab, enter])
                try await browser.wait(until: ##"!document.querySelector("#empty").hidden"##)
                #expect(try await browser.value(of: "document.activeElement.id") == "new")
            }
        }
    }

    @Test func `the page's client keeps its edits, whatever the server says of them`() async throws
    {
        try await serving {
            try await BrowserDriver.run { browsers in
                try await browsers[0].go(to: server.url + "/dashboard")
                let script = #"import("/demo/godwit.js").then(\#(Self.rules))"#
                let found = try await browsers[0].value(of: script)
                #expect((found.list ?? []).count == 11)
                for rule in found.list ?? [] {
                    #expect(rule["found"] == rule["expected"], "\(rule)")
                }
            }
        }
    }

    private static let rules = """
        ({ newState, addEdit, nextRequest, receive, refuse, releaseRefused, objects }) => {
          const place = (key) => ({ collection: "items", key });
          const begun = (known) => {
            const state = newState();
            const request = nextRequest(state);
            const changes = Object.entries(known).map(([key, value]) => ({ ...place(key), version: 1, value }));
            receive(state, request, {
              status: "ok", nonce: 1, outcome: null, changes, state: { serial: 1, token: "0000000001" },
            });
            return state;
          };
          const outcome = ({ sequence, name }, rejected) => ({ sequence, name, rejected });
          const all = (state) => Object.fromEntries(objects(state, "items"));
          const sent = (state) => nextRequest(state).batch?.changes.map(({ key }) => key) ?? [];
          const results = [];
          const check = (found, expected) => results.push({ found, expected });

          // One object that is refused takes no other with it.
          let state = begun({});
          for (const key of ["a", "b", "c"]) addEdit(state, { ...place(key), value: { n: key } });
          let request = nextRequest(state);
          const refused = receive(state, request, {
            status: "ok", nonce: request.nonce, state: { serial: 1, token: "0000000001" }, changes: [],
            outcome: outcome(request.batch, [{ ...place("b"), reason: "tooLarge" }]),
          });
          check(refused.map(({ key, reason }) => [key, reason]), [["b", "tooLarge"]]);
          check(Object.keys(all(state)).sort(), ["a", "b", "c"]);
          check(sent(state), ["a", "c"]);

          // A message that is refused is halved, down to the edit that is at fault.
          state = begun({});
          for (const key of ["a", "b", "c", "d"]) addEdit(state, { ...place(key), value: { n: key } });
          const got = [];
          for (let round = 0; round < 12; round += 1) {
            request = nextRequest(state);
            if (!request.batch) break;
            const keys = request.batch.changes.map(({ key }) => key);
            if (keys.includes("c")) refuse(state, request, { status: 413, code: "tooLarge" });
            else {
              got.push(...keys);
              receive(state, request, {
                status: "accepted", nonce: request.nonce, state: { serial: round + 2, token: "0000000001" },
                changes: request.batch.changes.map(({ key, value }) => ({ ...place(key), version: 1, value })),
                outcome: outcome(request.batch, []),
              });
            }
          }
          check([got.sort(), Object.keys(all(state)).sort()], [["a", "b", "d"], ["a", "b", "c", "d"]]);

          // A proxy refuses without a word for why, and later lets the edit through.
          state = begun({});
          addEdit(state, { ...place("a"), value: { n: 1 } });
          check(refuse(state, nextRequest(state), { status: 413 }).map(({ reason }) => reason), ["413"]);
          check(sent(state), []);
          releaseRefused(state);
          check(sent(state), ["a"]);

          // A map in the place of a field that was removed.
          state = begun({ a: { x: { c: 1 }, y: 1 } });
          addEdit(state, { ...place("a"), merge: { x: null } });
          addEdit(state, { ...place("a"), merge: { x: { b: 1 } } });
          check(all(state).a, { x: { b: 1 }, y: 1 });

          // An edit of what others have removed meanwhile makes no stub of it.
          state = begun({ a: { name: "Wine" }, b: { name: "Rye" } });
          addEdit(state, { ...place("a"), merge: { crossed: true } });
          addEdit(state, { ...place("b"), merge: { crossed: true } });
          request = nextRequest(state);
          receive(state, request, { status: "unknownState", nonce: request.nonce, outcome: null, state: null, changes: [] });
          request = nextRequest(state);
          receive(state, request, {
            status: "ok", nonce: request.nonce, outcome: null, state: { serial: 9, token: "0000000009" },
            changes: [{ ...place("b"), version: 1, value: { name: "Rye bread" } }],
          });
          check(all(state), { b: { name: "Rye bread", crossed: true } });
          check(sent(state), ["b"]);

          // An answer that comes late changes nothing.
          state = begun({ a: { n: 1 } });
          const early = nextRequest(state);
          const late = nextRequest(state);
          const answer = (n, request) => ({
            status: "ok", nonce: 1, outcome: null, state: { serial: n, token: "0000000001" },
            changes: [{ ...place("a"), version: 1, value: { n } }],
          });
          receive(state, late, answer(3));
          receive(state, early, answer(2));
          check([all(state).a.n, state.at.serial], [3, 3]);
          return results;
        }
        """

    /// Three devices of the page's client, as it ships, over a network that loses, doubles and delays.
    @Test(arguments: 1...2)
    func `devices of the page end alike, with each edit in it once`(seed: Int64) async throws {
        try await serving {
            try await BrowserDriver.run { browsers in
                try await browsers[0].go(to: server.url + "/dashboard")
                let script = """
                    import("/demo/godwit.js").then((client) => (\(Self.world))(client, \(seed)))
                    """
                let found = try await browsers[0].value(of: script)
                #expect(found["lost"] == [], "seed \(seed)")
                #expect(found["conflicts"] == 0, "seed \(seed)")
                let all = try #require(found["devices"]?.list)
                #expect(all.count == 3 && Set(all).count == 1, "seed \(seed): \(all)")
                let stored = try await server.ask(.value, nil).body["items"]
                #expect(all.first == stored, "seed \(seed)")
                #expect(
                    found["edits"]?.integer ?? 0 > 100 && found["lostAnswers"]?.integer ?? 0 > 5
                )
            }
        }
    }

    private static let world = """
        async ({ newState, addEdit, nextRequest, receive, objects, isInSync }, seed) => {
          let word = seed * 2654435761 >>> 0;
          const random = (count) => {
            word ^= word << 13; word ^= word >>> 17; word ^= word << 5;
            return (word >>> 0) % count;
          };
          const devices = [newState(), newState(), newState()];
          const fields = [];
          let [lostAnswers, delayed] = [0, []];
          const send = async (client, request) => {
            const headers = { "content-type": "application/json", "godwit-client": client };
            const response = await fetch("/v1/replicas/shopping/exchange", {
              method: "POST", headers, body: JSON.stringify(request),
            });
            if (!response.ok) throw new Error(await response.text());
            return response.json();
          };
          const exchange = async (state, fate) => {
            const request = structuredClone(nextRequest(state));
            if (fate === 0) return;
            if (fate === 1) return void delayed.push([state.client, request]);
            const answer = await send(state.client, request);
            if (fate === 2) return void (lostAnswers += 1);
            if (fate === 3) await send(state.client, request);
            receive(state, request, answer);
          };
          for (let step = 0; step < 400; step += 1) {
            const state = devices[random(3)];
            if (random(2) === 0) {
              // Each edit is a field of its own, of an object that stays or of one that goes.
              const field = `f${step}`;
              const key = `k${random(4)}`;
              if (random(8) === 0) addEdit(state, { collection: "items", key: "gone", removed: true });
              else if (random(8) === 0) addEdit(state, { collection: "items", key: "gone", value: { n: step } });
              else {
                addEdit(state, { collection: "items", key, merge: { [field]: step } });
                fields.push([key, field, step]);
              }
            } else if (delayed.length > 0 && random(4) === 0) {
              await send(...delayed.splice(random(delayed.length), 1)[0]);
            } else {
              await exchange(state, random(12));
            }
          }
          for (let round = 0; round < 20; round += 1) {
            for (const state of devices) await exchange(state, -1);
          }
          const all = devices.map((state) => Object.fromEntries(objects(state, "items")));
          const lost = fields.filter(([key, field, step]) => all[0][key]?.[field] !== step);
          return {
            lost, lostAnswers, edits: fields.length, devices: all,
            conflicts: devices.filter((state) => !isInSync(state)).length,
          };
        }
        """

    @Test func `a server that is not asked for the demo has none`() async throws {
        try await server.serving(.open) {
            for route in [ServerRoute.demo, .demoStyle, .demoScript, .demoWorker, .demoClient] {
                let answer = try await server.ask(route, nil)
                #expect(answer.status == 404)
            }
        }
    }
}
