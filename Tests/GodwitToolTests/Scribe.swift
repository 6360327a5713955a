import Foundation
import GodwitTestKit
import GodwitTree

/// Writes values as JSON in the ways of many programs.
struct Scribe {
    var indentation: String?
    var newline = "\n"
    var colon = ": "
    var comma = " "
    var padding = ""
    var isShortOnOneLine = false
    var escapesNonASCII = false
    var head = ""
    var tail = "\n"

    static func random(_ random: inout Seeded) -> Scribe {
        let indentation = [nil, " ", "  ", "    ", "\t"].randomElement(using: &random) ?? nil
        return Scribe(
            indentation: indentation,
            newline: random.happens(0.2) ? "\r\n" : "\n",
            colon: [": ", ":", " : "].randomElement(using: &random) ?? ": ",
            comma: random.happens(0.5) ? " " : "",
            padding: random.happens(0.2) ? " " : "",
            isShortOnOneLine: random.happens(0.5),
            escapesNonASCII: random.happens(0.3),
            head: random.happens(0.1) ? "\u{feff}" : "",
            tail: random.happens(0.7) ? "\n" : ""
        )
    }

    /// - Parameter seed: Decides the order of the keys; it is one order in all versions.
    func text(_ value: Value, seed: UInt64) -> String {
        head + text(value, indent: "", seed: seed) + tail
    }

    private func text(_ value: Value, indent: String, seed: UInt64) -> String {
        switch value {
        case .string(let key): return quoted(key.text)
        case .double(let double): return "\(double.double)0"
        case .map(let map):
            let entries = map.sorted { Self.rank($0.key, seed) < Self.rank($1.key, seed) }
            return container("{", "}", entries.map(\.value), indent, seed, entries.map(\.key.text))
        case .list(let list): return container("[", "]", Array(list), indent, seed, nil)
        default: return value.jsonText()
        }
    }

    private func container(
        _ open: String,
        _ close: String,
        _ items: [Value],
        _ indent: String,
        _ seed: UInt64,
        _ keys: [String]?
    ) -> String {
        guard !items.isEmpty else { return open + close }
        let isShort = isShortOnOneLine && items.allSatisfy { $0.isNested(within: 0) }
        let isBroken = indentation != nil && !isShort
        let inner = indent + (isBroken ? indentation ?? "" : "")
        let parts = items.enumerated().map { position, item in
            (keys.map { quoted($0[position]) + colon } ?? "")
                + text(item, indent: inner, seed: seed)
        }
        guard isBroken else {
            return open + padding + parts.joined(separator: "," + comma) + padding + close
        }
        let separator = "," + newline + inner
        return open + newline + inner + parts.joined(separator: separator) + newline + indent
            + close
    }

    private func quoted(_ text: String) -> String {
        let text = Value.string(Key(text)).jsonText()
        guard escapesNonASCII else { return text }
        return text.utf16.reduce(into: "") { result, unit in
            result +=
                unit < 0x80
                ? String(UnicodeScalar(UInt8(unit))) : "\\u" + String(format: "%04x", unit)
        }
    }

    private static func rank(_ key: Key, _ seed: UInt64) -> UInt64 {
        var random = Seeded(seed: key.text.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
        return random.next()
    }
}
