import Testing

@testable import GodwitTree

/// Lists in which both sides have moved items.
@Suite struct MergeJointOrderTests {
    @Test func `two items stand as a side has turned them where that makes one order`() {
        let letters = ["a", "b", "c", "d"]
        let orders = orders(of: letters)
        var count = 0
        for ours in orders {
            for theirs in orders {
                guard let wanted = order(of: letters, ours, theirs) else { continue }
                let merge = merge(list(letters), list(ours), list(theirs))
                guard merge.conflicts.isEmpty else { continue }
                count += 1
                #expect(merge.value == list(wanted), "\(ours) and \(theirs)")
            }
        }
        #expect(count > 300)
    }

    @Test func `what a side turns stays turned beside a removal`() throws {
        let base = #"["a","b","c"]"#
        try expectMerge(base, #"["b","a"]"#, #"["c","b","a"]"#, gives: #"["b","a"]"#)
        try expectMerge(base, #"["b","a"]"#, #"["a","c","b"]"#, gives: #"["b","a"]"#)
    }

    @Test func `both sides sort records, and put in and remove one each`() throws {
        func cards(_ titles: String) -> String {
            let records = titles.map { #"{"id":"\#($0)","title":"Card \#($0)"}"# }
            return "[\(records.joined(separator: ","))]"
        }
        try expectMerge(
            cards("dbeca"),
            cards("abcdef"),
            cards("abde"),
            gives: cards("abdef")
        )
    }

    @Test func `columns that both sides move apart are reported once for all rows`() throws {
        func table(_ columns: String) throws -> Value {
            let rows = ["1234", "5678", "9009"].map { row in
                let cells = columns.map { Array(row)[(Array("abcd").firstIndex(of: $0) ?? 0)] }
                return "[\(cells.map(String.init).joined(separator: ","))]"
            }
            let names = columns.map { #""\#($0)""# }.joined(separator: ",")
            return try Value(
                json: #"{"columns":[\#(names)],"rows":[\#(rows.joined(separator: ","))]}"#
            )
        }
        let merge = merge(try table("abcd"), try table("bcda"), try table("bacd"))
        #expect(merge.value == (try table("bcda")))
        #expect(merge.conflicts.map { "\($0.path)" } == ["/columns/0"])
        // Where a rule decides about the names, each row says what has become of it.
        var policy = MergePolicy()
        policy.set(.ours, at: "/columns")
        let ruled = Merge(
            base: try table("abcd"),
            ours: try table("bcda"),
            theirs: try table("bacd"),
            policy: policy
        )
        let rows = ["/rows/0/0", "/rows/1/0", "/rows/2/0"]
        #expect(ruled.conflicts.map { "\($0.path)" } == rows)
    }

    @Test func `an item behind the last one stays there if the last two change places`() throws {
        try expectMerge(
            #"["a","b","c","d"]"#,
            #"["a","b","c","d","e"]"#,
            #"["a","b","d","c"]"#,
            gives: #"["a","b","d","c","e"]"#
        )
    }

    private func list(_ letters: [String]) -> Value {
        .list(Value.List(letters.map { Value.string(Key($0)) }))
    }

    private func orders(of letters: [String]) -> [[String]] {
        letters.isEmpty
            ? [[]]
            : letters.flatMap { first in
                orders(of: letters.filter { $0 != first }).map { [first] + $0 }
            }
    }

    /// The order in which each two letters are turned as on a side that has turned them; nil if there is none.
    private func order(of base: [String], _ ours: [String], _ theirs: [String]) -> [String]? {
        func stands(_ first: String, before second: String) -> Bool {
            let sides = [ours, theirs].map { side in
                side.drop { $0 != first && $0 != second }.first == first
            }
            let old = base.drop { $0 != first && $0 != second }.first == first
            return sides[0] == sides[1] ? sides[0] : !old
        }
        let counts = base.map { letter in
            base.count { $0 != letter && stands(letter, before: $0) }
        }
        guard Set(counts).count == base.count else { return nil }
        return zip(counts, base).sorted { $0.0 > $1.0 }.map(\.1)
    }
}
