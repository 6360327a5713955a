import GodwitQueue
import Testing

/// The algebra of effects, over every pair and triple of a small world.
@Suite struct EffectTests {
    /// What a cloud knows of one thing.
    private enum State: Hashable, CaseIterable {
        case nowhere, oldAtA, oldAtB, oldAtC, newAtA, newAtB, newAtC

        init(_ place: String?, isNew: Bool) {
            switch (place, isNew) {
            case ("a", false): self = .oldAtA
            case ("b", false): self = .oldAtB
            case ("c", false): self = .oldAtC
            case ("a", true): self = .newAtA
            case ("b", true): self = .newAtB
            case ("c", true): self = .newAtC
            default: self = .nowhere
            }
        }

        var place: String? {
            switch self {
            case .nowhere: nil
            case .oldAtA, .newAtA: "a"
            case .oldAtB, .newAtB: "b"
            case .oldAtC, .newAtC: "c"
            }
        }

        var isNew: Bool { [.newAtA, .newAtB, .newAtC].contains(self) }

        /// nil when the cloud would refuse.
        func applying(_ effect: Effect) -> State? {
            switch effect.action {
            case .create(let place):
                place == self.place || self != .nowhere ? nil : Self(place, isNew: true)
            case .write: self == .nowhere ? nil : State(place, isNew: true)
            case .move(let start, let end): place == start ? State(end, isNew: isNew) : nil
            case .delete(let place): place == self.place ? .nowhere : nil
            }
        }
    }

    private static let places = ["a", "b", "c"]
    private static let effects: [Effect] =
        [.write("x")] + places.map { .create("x", at: $0) } + places.map { .delete("x", at: $0) }
        + places.flatMap { place in
            places.filter { $0 != place }.map { .move("x", from: place, to: $0) }
        }

    @Test func `what two effects come to leaves the state that both leave`() {
        for first in Self.effects {
            for second in Self.effects {
                for state in State.allCases {
                    guard let end = state.applying(first)?.applying(second) else { continue }
                    switch first.then(second) {
                    case .two: break
                    case .nothing: #expect(end == state, "\(first) \(second)")
                    case .one(let sum):
                        #expect(state.applying(sum) == end, "\(first) \(second) on \(state)")
                    }
                }
            }
        }
    }

    @Test func `brackets make no difference where one effect is left`() {
        for first in Self.effects {
            for second in Self.effects {
                for third in Self.effects {
                    let left = Self.sum(first.then(second), third)
                    let right = Self.sum(first, second.then(third))
                    if left == .two || right == .two { continue }
                    #expect(left == right, "\(first) \(second) \(third)")
                }
            }
        }
    }

    private static func sum(_ sum: Effect.Sum, _ effect: Effect) -> Effect.Sum {
        switch sum {
        case .nothing: .one(effect)
        case .one(let first): first.then(effect)
        case .two: .two
        }
    }

    private static func sum(_ effect: Effect, _ sum: Effect.Sum) -> Effect.Sum {
        switch sum {
        case .nothing: .one(effect)
        case .one(let second): effect.then(second)
        case .two: .two
        }
    }

    @Test func `effects on different things stay two`() {
        for first in Self.effects {
            for second in Self.effects {
                #expect(first.then(Effect("y", of: "things", second.action)) == .two)
                #expect(first.then(Effect("x", of: "others", second.action)) == .two)
            }
        }
    }

    @Test func `every row of the table comes to what it says`() {
        let x = "x"
        #expect(Effect.write(x).then(.write(x)) == .one(.write(x)))
        #expect(Effect.create(x, at: "a").then(.write(x)) == .one(.create(x, at: "a")))
        #expect(Effect.create(x, at: "a").then(.delete(x, at: "a")) == .nothing)
        #expect(
            Effect.create(x, at: "a").then(.move(x, from: "a", to: "b"))
                == .one(.create(x, at: "b"))
        )
        #expect(Effect.write(x).then(.delete(x, at: "a")) == .one(.delete(x, at: "a")))
        #expect(
            Effect.move(x, from: "a", to: "b").then(.move(x, from: "b", to: "c"))
                == .one(.move(x, from: "a", to: "c"))
        )
        #expect(
            Effect.move(x, from: "a", to: "b").then(.move(x, from: "b", to: "a")) == .nothing
        )
        #expect(
            Effect.move(x, from: "a", to: "b").then(.delete(x, at: "b"))
                == .one(.delete(x, at: "a"))
        )
        #expect(Effect.delete(x, at: "a").then(.create(x, at: "a")) == .one(.write(x)))
        #expect(Effect.write(x).then(.move(x, from: "a", to: "b")) == .two)
    }
}

/// In these tests all things are of one collection.
extension Effect {
    static func create(_ thing: String, at place: String = "") -> Effect {
        .create(thing, of: "things", at: place)
    }

    static func write(_ thing: String) -> Effect { .write(thing, of: "things") }

    static func move(_ thing: String, from place: String, to other: String) -> Effect {
        .move(thing, of: "things", from: place, to: other)
    }

    static func delete(_ thing: String, at place: String = "") -> Effect {
        .delete(thing, of: "things", at: place)
    }
}
