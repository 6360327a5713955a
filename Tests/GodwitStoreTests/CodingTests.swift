import Foundation
import GodwitStore
import GodwitTree
import Testing

/// What becomes of an app's values on their way through the store's encoder, and back.
@Suite struct CodingTests {
    struct Measurements: Codable, Equatable {
        var doubles: [Double]
        var floats: [Float]
        var rows: [[Double]]
        var flags: [Bool]
        var names: [String?]
        var counts: [UInt8]
    }

    @Test func `arrays of every kind keep their items`() async throws {
        let store = try Store(.memory)
        let collection = Store.Collection<Measurements>("measurements")
        let value = Measurements(
            doubles: [0.5, -1e300, 3],
            floats: [0.25, 2],
            rows: [[1.5], [], [2.5, 3.5]],
            flags: [true, false],
            names: ["a", nil, "b"],
            counts: [0, 255]
        )
        try await store.write { try $0.set(value, for: "a", in: collection) }
        #expect(try await store.read { try $0.get("a", in: collection) } == value)
        let plain = try await store.read {
            try $0.get("a", in: Store.Collection<Value>("measurements"))
        }
        #expect(plain?["doubles"]?.list?.count == 3)
        #expect(plain?["rows"] == [[1.5], [], [2.5, 3.5]])
        try store.close()
    }

    /// A type that writes its items one by one, as generated code does not.
    private struct Point: Codable, Equatable {
        var x: Double
        var y: Float
        var label: String
        var isHome: Bool
        var rank: Int8?

        init() { (x, y, label, isHome, rank) = (0.5, -2.25, "here", true, nil) }

        init(from decoder: any Decoder) throws {
            var items = try decoder.unkeyedContainer()
            x = try items.decode(Double.self)
            y = try items.decode(Float.self)
            label = try items.decode(String.self)
            isHome = try items.decode(Bool.self)
            rank = try items.decodeNil() ? nil : items.decode(Int8.self)
        }

        func encode(to encoder: any Encoder) throws {
            var items = encoder.unkeyedContainer()
            try items.encode(x)
            try items.encode(y)
            try items.encode(label)
            try items.encode(isHome)
            if let rank { try items.encode(rank) } else { try items.encodeNil() }
        }
    }

    @Test func `items that a type writes one by one are all there`() async throws {
        let store = try Store(.memory)
        let points = Store.Collection<Point>("points")
        try await store.write { try $0.set(Point(), for: "a", in: points) }
        #expect(try await store.read { try $0.get("a", in: points) } == Point())
        let plain = try await store.read { try $0.get("a", in: Store.Collection<Value>("points")) }
        #expect(plain == [0.5, -2.25, "here", true, .null])
        try store.close()
    }

    @Test func `a value is written by other encoders as what it is`() throws {
        let value: Value = ["none": .null, "list": [.null, true, 2, "x"]]
        let bytes = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: bytes) == value)
        #expect(try Value(json: String(decoding: bytes, as: UTF8.self)) == value)
    }

    @Test func `an identifier is read as it was written, and nothing else is one`() throws {
        let identifier = try #require(Identifier("00112233445566778899aabbccddeeff"))
        let bytes = try JSONEncoder().encode([identifier])
        #expect(try JSONDecoder().decode([Identifier].self, from: bytes) == [identifier])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Identifier].self, from: Data(#"["0011"]"#.utf8))
        }
    }

    @Test func `bytes of no length are bytes of no length in SQLite`() async throws {
        let store = try Store(.memory)
        try await store.write { transaction in
            let statement = try PreparedStatement(
                "SELECT length(?1), typeof(?1)",
                in: transaction.connection
            )
            defer { statement.reset() }
            try statement.bind([] as [UInt8], at: 1)
            let hasRow = try statement.step()
            let (length, kind) = (statement.integer(0), statement.text(1))
            #expect(hasRow && length == 0 && kind == "blob")
        }
        try store.close()
    }
}
