/// JSON as it is written: keys in their order, numbers and escapes untouched.
enum JSONLayout {
    /// The members of an object, each as it is written.
    static func members(of object: [UInt8]) -> [String: ArraySlice<UInt8>] {
        var members: [String: ArraySlice<UInt8>] = [:]
        var (depth, start, key) = (0, 0, "")
        var index = 0
        while index < object.count {
            switch object[index] {
            case UInt8(ascii: "\""):
                let end = stringEnd(in: object[...], from: index)
                if depth == 1, key.isEmpty {
                    key = String(decoding: object[(index + 1)..<(end - 1)], as: UTF8.self)
                }
                index = end
                continue
            case UInt8(ascii: ":") where depth == 1: start = index + 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ",") where depth == 1:
                members[key] = object[start..<index]
                key = ""
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0, !key.isEmpty { members[key] = object[start..<index] }
            default: break
            }
            index += 1
        }
        return members
    }

    /// The same JSON with an item or a member on each line.
    static func pretty(_ json: ArraySlice<UInt8>, indent: Int) -> [UInt8] {
        var (result, depth): ([UInt8], Int) = ([], 0)
        func newline() {
            result.append(UInt8(ascii: "\n"))
            result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * indent))
        }
        var index = json.startIndex
        while index < json.endIndex {
            let byte = json[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                let end = stringEnd(in: json, from: index - 1)
                result += json[(index - 1)..<end]
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                depth += 1
                let next = json[index...].first { !isBlank($0) }
                if next != byte + 2 { newline() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if result.last != byte - 2 { newline() }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                newline()
            case UInt8(ascii: ":"): result += [byte, UInt8(ascii: " ")]
            default: if !isBlank(byte) { result.append(byte) }
            }
        }
        return result + [UInt8(ascii: "\n")]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    /// Where a string ends that begins with the quote at `start`.
    private static func stringEnd(in json: ArraySlice<UInt8>, from start: Int) -> Int {
        var index = start + 1
        while index < json.endIndex, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, json.endIndex)
    }
}
