/// The way from the root of a value to one of its parts.
public struct ValuePath: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case key(Key)
        case position(Int)
    }

    public var steps: [Step]

    public init(_ steps: [Step] = []) { self.steps = steps }

    public func appending(_ step: Step) -> ValuePath { ValuePath(steps + [step]) }
}

extension ValuePath {
    /// Reads a JSON Pointer (RFC 6901), whose steps all count as keys; a leading `/` may be
    /// missing, and `/` alone is the root.
    public init(pointer: String) {
        var keys: [Key] = []
        for step in pointer.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            keys.append(Key(Self.unescaped(step)))
        }
        if pointer.utf8.first == UInt8(ascii: "/") { keys.removeFirst() }
        self.init(keys == [""] ? [] : keys.map { .key($0) })
    }

    private static func unescaped(_ step: Substring.UnicodeScalarView) -> String {
        var text = String.UnicodeScalarView()
        var rest = step
        while let scalar = rest.popFirst() {
            switch (scalar, rest.first) {
            case ("~", "0"): rest.removeFirst()
            case ("~", "1"):
                rest.removeFirst()
                text.append("/")
                continue
            default: break
            }
            text.append(scalar)
        }
        return String(text)
    }
}

extension ValuePath: CustomStringConvertible {
    /// The path as a JSON Pointer (RFC 6901); the root is shown as `/`.
    public var description: String {
        guard !steps.isEmpty else { return "/" }
        return steps.map { "/" + $0.pointer }.joined()
    }
}

extension ValuePath.Step {
    fileprivate var pointer: String {
        switch self {
        case .position(let position):
            String(position)
        case .key(let key):
            key.pointerToken
        }
    }
}
