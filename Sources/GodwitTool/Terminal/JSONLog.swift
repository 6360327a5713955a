import Foundation
import GodwitTree
import Logging

/// Writes each message as a line of JSON.
struct JSONLog: LogHandler {
    let label: String
    private let write: @Sendable (Data) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// - Parameter write: Takes a line with its end; by default, standard error.
    init(
        label: String,
        write: @escaping @Sendable (Data) -> Void = { line in
            // A server runs without its log, too.
            try? FileHandle.standardError.write(contentsOf: line)
        }
    ) {
        (self.label, self.write) = (label, write)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        write(Data((line(event, at: Date()) + "\n").utf8))
    }

    func line(_ event: LogEvent, at time: Date) -> String {
        var fields: [(Key, Value)] = [
            ("time", .string(Key(time.formatted(Self.timeStyle)))),
            ("level", .string(Key(event.level.rawValue))),
            ("label", .string(Key(label))),
            ("message", .string(Key("\(event.message)"))),
        ]
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
            .merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields.append(("error", .string(Key("\(error)")))) }
        for (name, value) in all where !fields.contains(where: { $0.0.text == name }) {
            fields.append((Key(name), .string(Key("\(value)"))))
        }
        return Value.map(Value.Map(fields)).jsonText()
    }
}
