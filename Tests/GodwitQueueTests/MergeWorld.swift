import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Changes one thing of a cloud; all of them are one Swift type, so that moves can be chained.
struct ChangeThing: PushOperation {
    static let kind = "change-thing"
    let effect: Effect?

    var objects: [ObjectKey] {
        effect.map { [ObjectKey(collection: "things", key: Key($0.thing))] } ?? []
    }

    func merged(
        with earlier: QueuedOperation,
        as effect: Effect
    ) throws -> (any PushOperation)? { ChangeThing(effect: effect) }
}

/// Looks where a thing is: has an order with all that changes it, and changes nothing.
struct LookAtThing: PushOperation {
    static let kind = "look-at-thing"
    let thing: String
    /// Where it has to be.
    let place: String?

    var footprint: Footprint { .thing(thing, of: "things", .read) }
}

/// An app and its cloud, changed at random: the things here, the things there, what is under way.
///
/// The cloud refuses what makes no sense, as a real one would: so operations that are merged
/// wrongly, or run out of order, are found at once.
final class MergeWorld {
    struct Thing: Hashable {
        var place: String
        var version: Int
    }

    let store: Store
    private let queue: PushQueue
    private var random: Seeded
    private var here: [String: Thing] = [:]
    private var there: [String: Thing] = [:]
    /// The last version of each thing, also of those that are gone.
    private var versions: [String: Int] = [:]
    private var inFlight: [(QueuedOperation, versions: [String: Int])] = []
    private(set) var problems: [String] = []
    private(set) var enqueueCount = 0
    private(set) var runCount = 0
    private let mayMerge: Bool

    private static let places = ["a", "b", "c"]

    init(seed: UInt64, order: Pipeline.Order, mayMerge: Bool = true) throws {
        random = Seeded(seed: seed)
        store = try Store(.memory)
        queue = try PushQueue(store, pipelines: [Pipeline(order: order)])
        self.mayMerge = mayMerge
    }

    func run(steps: Int) async throws {
        for _ in 0..<steps {
            switch Int.random(in: 0..<6, using: &random) {
            case 0...3: try await change(count: Int.random(in: 1...2, using: &random))
            case 4: _ = try await start()
            default: _ = try await finish()
            }
        }
        var isLeft = true
        while isLeft {
            let hasStarted = try await start()
            let hasFinished = try await finish()
            isLeft = hasStarted || hasFinished
        }
        if here != there { problems.append("the cloud has \(there), the app \(here)") }
        let left = try await store.read { try $0.operations().count }
        if left > 0 { problems.append("\(left) operations are left") }
        try store.close()
    }

    private func change(count: Int) async throws {
        var work: [any PushOperation] = []
        for _ in 0..<count {
            let thing = ["x", "y"][Int.random(in: 0...1, using: &random)]
            if random.happens(0.15) {
                work.append(LookAtThing(thing: thing, place: here[thing]?.place))
            } else {
                work.append(ChangeThing(effect: change(thing)))
            }
        }
        enqueueCount += count
        let mayMerge = mayMerge
        try await store.write { [work] transaction in
            for work in work { try transaction.enqueue(work, Placement(mayMerge: mayMerge)) }
        }
    }

    /// Changes a thing here, and says what is to be done there.
    private func change(_ name: String) -> Effect {
        versions[name, default: 0] += 1
        let version = versions[name] ?? 0
        let place = Self.places[Int.random(in: 0..<3, using: &random)]
        guard var thing = here[name] else {
            here[name] = Thing(place: place, version: version)
            return .create(name, at: place)
        }
        if random.happens(0.3) {
            here[name] = nil
            return .delete(name, at: thing.place)
        }
        if place != thing.place, random.happens(0.5) {
            defer { here[name] = thing }
            // A move alone is no new content.
            versions[name] = version - 1
            return .move(name, from: exchange(&thing.place, with: place), to: place)
        }
        here[name] = Thing(place: thing.place, version: version)
        return .write(name)
    }

    /// Starts any operation that may start: what it pushes is what is here now.
    private func start() async throws -> Bool {
        let ready = try await store.read { transaction in
            let snapshot = try transaction.queueSnapshot(at: .now)
            return snapshot.operations.filter {
                $0.state == .waiting && snapshot.status(of: $0.number) == .waiting([.none])
            }
        }
        guard let next = ready.randomElement(using: &random) else { return false }
        let started = try await store.write {
            try $0.start([next.number], epoch: 1, lease: (0, 0), at: .zero)
        }
        guard let operation = started.first else { return false }
        inFlight.append((operation, versions))
        return true
    }

    private func finish() async throws -> Bool {
        guard let index = inFlight.indices.randomElement(using: &random) else { return false }
        let (operation, versions) = inFlight.remove(at: index)
        runCount += 1
        if operation.kind == LookAtThing.kind {
            let look = try operation.decoded(as: LookAtThing.self)
            if there[look.thing]?.place != look.place {
                problems.append("\(look) saw \(there[look.thing]?.place ?? "nothing")")
            }
        } else if let effect = try operation.decoded(as: ChangeThing.self).effect {
            apply(effect, versions[effect.thing] ?? 0)
        }
        try await store.write { try $0.completeOperation(operation.id) }
        return true
    }

    private func apply(_ effect: Effect, _ version: Int) {
        let thing = there[effect.thing]
        switch effect.action {
        case .create(let place) where thing == nil:
            there[effect.thing] = Thing(place: place, version: version)
        case .write where thing != nil: there[effect.thing]?.version = version
        case .move(let start, let end) where thing?.place == start:
            there[effect.thing]?.place = end
        case .delete(let place) where thing?.place == place: there[effect.thing] = nil
        default: problems.append("the cloud refuses \(effect) of \(String(describing: thing))")
        }
    }
}

private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
    defer { value = new }
    return value
}
