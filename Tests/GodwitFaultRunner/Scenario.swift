import GodwitStore
import GodwitTree

/// A short story of what an app does with its store.
struct Scenario: Sendable {
    let name: String
    let steps: [Step]

    init(_ name: String, _ steps: Step...) {
        self.name = name
        self.steps = steps
    }

    /// The transactions that may be committed, by their marks, in their order.
    var writes: [Write] {
        steps.enumerated().flatMap { number, step -> [Write] in
            switch step {
            case .write(let changes): [Write(mark: Self.mark(number), changes: changes)]
            case .together(let writes), .grouped(let writes):
                writes.enumerated().map { writer, changes in
                    Write(mark: Self.mark(number, writer), changes: changes)
                }
            case .abandon, .call: []
            }
        }
    }

    /// What a store holds in which exactly the transactions with these marks were committed.
    func contents(with marks: some Sequence<String>) -> Contents {
        let marks = Set(marks)
        var contents = Contents()
        for write in writes where marks.contains(write.mark) {
            write.change.apply(&contents)
        }
        return contents
    }

    static func mark(_ step: Int, _ writer: Int? = nil) -> String {
        writer.map { "\(step).\($0)" } ?? "\(step)"
    }
}

/// One step of a scenario.
enum Step: Sendable {
    /// A transaction.
    case write([Change])
    /// A transaction that throws when these changes are made; nothing of it may be seen.
    case abandon([Change])
    /// Transactions of tasks that run at the same time, while others read.
    ///
    /// No two of them may change the same object, as their order is open.
    case together([[Change]])
    /// Transactions that wait until all are there, and then share one commit to the disk.
    case grouped([[Change]])
    /// Something that leaves the objects as they are.
    case call(@Sendable (Session) async throws -> Void)

    static func write(_ changes: Change...) -> Step { .write(changes) }
    static func abandon(_ changes: Change...) -> Step { .abandon(changes) }

    static let read = Step.call { try await $0.read() }
    static let reopen = Step.call { try await $0.reopen() }
    static let checkpoint = Step.call { try await $0.checkpoint() }
    static let mirror = Step.call { try $0.opened().addHook(Mirror(), named: "mirror") }
}

/// What one transaction does, with a mark by which it is found again.
struct Write: Sendable {
    let mark: String
    let changes: [Change]

    /// The changes between two objects of the same transaction: where one of these is the other
    /// must be, or the transaction was torn.
    var change: Change {
        let first = Change.set(Key(mark), to: .string(Key(mark)), in: Contents.marks)
        let last = Change.set(Key(mark), to: .string(Key(mark)), in: Contents.twins)
        return .all([first] + changes + [last])
    }
}
