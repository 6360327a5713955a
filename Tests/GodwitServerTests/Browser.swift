import Foundation
import GodwitTestKit
import GodwitTree
import Testing

/// A browser that a test drives: Chromium, by the WebDriver protocol of chromedriver.
struct Browser {
    private let driver: BrowserDriver
    private let session: String

    /// - Parameter size: The window's, in pixels.
    init(_ driver: BrowserDriver, size: (width: Int, height: Int) = (1_000, 800)) async throws {
        let arguments: [Value] = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        ]
        let capabilities: Value = [
            "capabilities": [
                "alwaysMatch": ["goog:chromeOptions": ["args": .list(Value.List(arguments))]]
            ]
        ]
        let answer = try await driver.ask("POST", "/session", capabilities)
        self.driver = driver
        session = "/session/" + (try #require(answer["sessionId"]?.text))
        // A window of Chromium's is at least 500 pixels wide; its page need not be.
        try await command(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .int(Int64(size.width)), "height": .int(Int64(size.height)),
                "deviceScaleFactor": 1, "mobile": false,
            ]
        )
    }

    @discardableResult
    private func post(_ path: String, _ body: Value) async throws -> Value {
        try await driver.ask("POST", session + path, body)
    }

    private func command(_ name: String, _ parameters: Value) async throws {
        try await post("/goog/cdp/execute", ["cmd": .string(Key(name)), "params": parameters])
    }

    func go(to url: String) async throws { try await post("/url", ["url": .string(Key(url))]) }

    func reload() async throws { try await post("/refresh", [:]) }

    /// The value of an expression; of a promise, that which it has later.
    @discardableResult
    func value(of expression: String) async throws -> Value {
        let script = """
            const done = arguments[arguments.length - 1];
            (async () => \(expression))().then((value) => done({ value }), (error) => done({ error: `${error}` }));
            """
        let answer = try await post("/execute/async", ["script": .string(Key(script)), "args": []])
        if let error = answer["error"] { throw BrowserError(reason: "\(error)") }
        return answer["value"] ?? .null
    }

    /// Waits until an expression is true.
    func wait(until expression: String) async throws {
        try await value(
            of: """
                new Promise((resolve) => {
                    const look = () => (\(expression)) ? resolve(true) : setTimeout(look, 10);
                    look();
                })
                """
        )
    }

    /// Types into the element that a selector finds.
    func type(_ text: String, into selector: String) async throws {
        try await act(on: selector, "value", ["text": .string(Key(text))])
    }

    func click(_ selector: String) async throws { try await act(on: selector, "click", [:]) }

    private func act(on selector: String, _ verb: String, _ body: Value) async throws {
        let found = try await post(
            "/element",
            ["using": "css selector", "value": .string(Key(selector))]
        )
        let element = try #require(found.map?.first?.value.text)
        try await post("/element/\(element)/\(verb)", body)
    }

    /// Presses keys, whatever has the focus.
    func press(_ keys: [String]) async throws {
        let actions = keys.flatMap { key -> [Value] in
            ["keyDown", "keyUp"].map { ["type": .string(Key($0)), "value": .string(Key(key))] }
        }
        try await post(
            "/actions",
            [
                "actions": [
                    ["type": "key", "id": "keyboard", "actions": .list(Value.List(actions))]
                ]
            ]
        )
    }

    /// Cuts the page off the network, or lets it back.
    func setOffline(_ isOffline: Bool) async throws {
        try await post(
            "/chromium/network_conditions",
            [
                "network_conditions": [
                    "offline": .bool(isOffline), "latency": 0, "throughput": 10_000_000,
                ]
            ]
        )
    }

    /// A picture of the page, as PNG.
    func picture() async throws -> Data {
        let text = try await driver.ask("GET", session + "/screenshot", nil).text
        return try #require(Data(base64Encoded: text ?? ""))
    }

    func close() async throws { _ = try await driver.ask("DELETE", session, nil) }
}

struct BrowserError: Error { let reason: String }

/// chromedriver, which `make setup` installs, on a free port; it ends with the test.
final class BrowserDriver: Sendable {
    private let process: Process
    private let address: String

    init() async throws {
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        let output = Pipe.make()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                text.finish()
            } else {
                text.yield(String(decoding: data, as: UTF8.self))
            }
        }
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["chromedriver", "--port=0"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        var said = ""
        for await text in texts {
            said += text
            if said.contains(/on port \d+\./) { break }
        }
        output.fileHandleForReading.readabilityHandler = nil
        let port = try #require(said.firstMatch(of: /on port (\d+)\./), "\(said)").1
        address = "http://127.0.0.1:\(port)"
    }

    deinit { process.terminate() }

    /// Runs `body` with so many browsers.
    static func run(
        _ count: Int = 1,
        size: (width: Int, height: Int) = (1_000, 800),
        _ body: ([Browser]) async throws -> Void
    ) async throws {
        let driver = try await BrowserDriver()
        var browsers: [Browser] = []
        for _ in 0..<count { browsers.append(try await Browser(driver, size: size)) }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(browsers)) } catch { outcome = .failure(error) }
        for browser in browsers { try await browser.close() }
        try outcome.get()
    }

    func ask(_ method: String, _ path: String, _ body: Value?) async throws -> Value {
        // Not every answer of chromedriver is one that URLSession reads.
        var arguments = ["--silent", "--show-error", "--request", method, address + path]
        if let body { arguments += ["--json", body.jsonText()] }
        let value = try Value(json: try await output(of: "curl", arguments))["value"] ?? .null
        if let error = value["error"]?.text {
            throw BrowserError(reason: "\(path): \(error) \(value["message"]?.text ?? "")")
        }
        return value
    }
}
