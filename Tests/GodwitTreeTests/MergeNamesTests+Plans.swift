import GodwitTree
import Testing

/// Names beside days, slots and numbers that go on.
extension MergeNamesTests {
    @Test func `an edit stays with its exercise when a plan is put off by a day`() throws {
        func plan(_ days: [String], done: String? = nil) -> String {
            let items = zip(days, ["Legs", "Back", "Swim", "Run", "Rest"]).map { day, workout in
                #"{"name":"\#(day)","workout":"\#(workout)","done":\#(workout == done)}"#
            }
            return "[\(items.joined(separator: ","))]"
        }
        let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        let pairs: [(Range<Int>, [Int])] = [
            (0..<3, [1, 2, 3]), (1..<6, [0, 1, 2, 3, 4]), (0..<5, [0, 1, 3, 4, 5]),
        ]
        for (range, indices) in pairs {
            let (old, new) = (Array(days[range]), indices.map { days[$0] })
            try expect(
                plan(old),
                plan(new),
                plan(old, done: "Back"),
                gives: plan(new, done: "Back")
            )
        }
    }

    @Test func `an edit stays with its talk when two talks change places`() throws {
        func talks(_ titles: [String], _ name: String, done: String? = nil) -> String {
            let items = zip(titles, [("09:00", "09:45"), ("09:45", "10:30"), ("10:45", "11:30")])
                .map { title, slot in
                    #"{"\#(name)":"\#(title)","start":"\#(slot.0)","end":"\#(slot.1)","done":\#(title == done)}"#
                }
            return "[\(items.joined(separator: ","))]"
        }
        let (old, new) = (["Rust", "Swift", "Zig"], ["Swift", "Rust", "Zig"])
        for name in ["title", "id"] {
            try expect(
                talks(old, name),
                talks(new, name),
                talks(old, name, done: "Rust"),
                gives: talks(new, name, done: "Rust")
            )
        }
        // Under another name, they may be people who have exchanged their appointments.
        let merge = try merge(
            talks(old, "talk"),
            talks(new, "talk"),
            talks(old, "talk", done: "Rust")
        )
        #expect(merge.conflicts.contains { !$0.isNotice })
    }

    @Test func `an edit of an item that is numbered anew is made right or reported`() throws {
        func slots(from first: Int, free: Int? = nil) -> String {
            let items = (0..<3).map {
                #"{"id":\#(first + $0),"from":\#(6 * $0),"to":\#(6 * $0 + 5),"free":\#($0 == free)}"#
            }
            return "[\(items.joined(separator: ","))]"
        }
        func marks(_ ids: [Int], ok: Int? = nil) -> String {
            let items = zip(ids, [10, 20, 40, 50]).map {
                #"{"id":\#($0),"x":\#($1),"ok":\#($1 == ok)}"#
            }
            return "[\(items.joined(separator: ","))]"
        }
        let cases = [
            [slots(from: 0), slots(from: 1), slots(from: 0, free: 1), slots(from: 1, free: 1)],
            [
                marks([1, 2, 4, 5]), marks([1, 2, 3, 4]), marks([1, 2, 4, 5], ok: 40),
                marks([1, 2, 3, 4], ok: 40),
            ],
        ]
        for texts in cases {
            let values = try texts.map { try Value(json: $0) }
            let merge = Merge(base: values[0], ours: values[1], theirs: values[2])
            let isRight = merge.value == values[3]
            #expect(isRight || merge.conflicts.contains { !$0.isNotice })
        }
    }
}
