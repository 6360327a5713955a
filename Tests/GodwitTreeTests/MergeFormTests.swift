import GodwitTree
import Testing

/// Removals beside another form that the other side gave to the same records.
@Suite struct MergeFormTests {
    /// Expects that a merge reports one thing, in both orders of the sides.
    private func expectReport(
        _ base: String,
        _ form: String,
        _ removal: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (base, form, removal) = try (
            Value(json: base), Value(json: form), Value(json: removal)
        )
        for (ours, theirs) in [(form, removal), (removal, form)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.conflicts.count == 1, "\(merge)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [#"["vegan"]"#, #"["vegan","quick"]"#, #"[{"name":"vegan"}]"#])
    func `tags that one side makes records, or words, and the other empties are reported`(
        tags: String
    ) throws {
        let isOfWords = !tags.contains("name")
        try expectReport(
            #"{"tags":\#(tags)}"#,
            isOfWords ? #"{"tags":[{"name":"vegan"},{"name":"quick"}]}"# : #"{"tags":["vegan"]}"#,
            #"{"tags":[]}"#
        )
    }

    private static let cards = [
        #""title":"Fix login page","who":"Anna""#, #""title":"Write the docs","who":"Bert""#,
        #""title":"Call the customer","who":"Anna""#,
    ]

    private static func list(_ cards: [String], _ more: String = "") -> String {
        "[\(cards.map { "{\($0)\(more)}" }.joined(separator: ","))]"
    }

    @Test(arguments: [
        #"{"cards":\#(list(cards, #","column":"Todo""#))}"#,
        #"{"tasks":[{"text":"Fix login page","who":"Anna"},{"text":"Write the docs","who":"Bert"}]}"#,
        #"{"owners":{"Fix login page":"Anna","Write the docs":"Bert","Call the customer":"Anna"}}"#,
        #"{"rows":[["Fix login page","Anna"],["Write the docs","Bert"]]}"#,
    ])
    func `a card that is removed where the other side gave the board another form is reported`(
        form: String
    ) throws {
        let (all, rest) = (Self.list(Self.cards), Self.list(Array(Self.cards.dropFirst())))
        try expectReport(
            #"{"columns":{"Todo":\#(all),"Done":[]}}"#,
            form,
            #"{"columns":{"Todo":\#(rest),"Done":[]}}"#
        )
    }

    @Test func `an ingredient that is removed where the other side lists those of all is reported`()
        throws
    {
        try expectReport(
            """
            {"recipes":[
             {"name":"Soup","serves":2,"list":[{"what":"Bread","n":4,"unit":"slices"},
              {"what":"Flour","n":250,"unit":"g"},{"what":"Milk","n":50,"unit":"ml"}]},
             {"name":"Pie","serves":4,"list":[{"what":"Salmon","n":300,"unit":"g"},
              {"what":"Pasta","n":500,"unit":"g"}]}]}
            """,
            """
            {"recipes":[{"name":"Soup","serves":2},{"name":"Pie","serves":4}],
             "list":[{"what":"Bread","n":4,"unit":"slices","of":"Soup"},
              {"what":"Flour","n":250,"unit":"g","of":"Soup"},
              {"what":"Milk","n":50,"unit":"ml","of":"Soup"},
              {"what":"Salmon","n":300,"unit":"g","of":"Pie"},
              {"what":"Pasta","n":500,"unit":"g","of":"Pie"}]}
            """,
            """
            {"recipes":[
             {"name":"Soup","serves":2,"list":[{"what":"Bread","n":4,"unit":"slices"},
              {"what":"Flour","n":250,"unit":"g"},{"what":"Milk","n":50,"unit":"ml"}]},
             {"name":"Pie","serves":4,"list":[{"what":"Pasta","n":500,"unit":"g"}]}]}
            """
        )
    }

    @Test
    func `a task that is removed where the other side groups them without a field is reported`()
        throws
    {
        try expectReport(
            """
            [{"text":"Renew passport","done":false},{"text":"Hire a designer","done":false},
             {"text":"Order laptops","done":true}]
            """,
            """
            [{"group":"open","members":[{"text":"Renew passport"},{"text":"Hire a designer"}]},
             {"group":"done","members":[{"text":"Order laptops"}]}]
            """,
            #"[{"text":"Hire a designer","done":false},{"text":"Order laptops","done":true}]"#
        )
    }

    private static let checklist = [
        "- [ ] Buy milk", "- [ ] Call bank", "- [ ] Pay rent", "- [ ] Tea",
    ]

    private static func body(_ lines: Int...) -> String {
        #"{"body":"\#(lines.map { checklist[$0] }.joined(separator: #"\n"#))"}"#
    }

    @Test func `a line that both sides move in a text, or one moves and one removes, is reported`()
        throws
    {
        try expectReport(Self.body(0, 1, 2, 3), Self.body(1, 2, 0, 3), Self.body(1, 2, 3, 0))
        try expectReport(Self.body(0, 1, 2, 3), Self.body(1, 2, 3, 0), Self.body(1, 2, 3))
        try expectReport(
            #"{"work":"- Buy milk\n- Call bank\n- Pay rent","home":"- Buy tea"}"#,
            #"{"work":"- Call bank\n- Pay rent","home":"- Buy tea\n- Buy milk"}"#,
            #"{"work":"- Call bank\n- Pay rent\n- Buy milk","home":"- Buy tea"}"#
        )
    }

    @Test func `a removal beside cards by column is reported where another card is renamed`() throws
    {
        let (flyers, bread) = (
            #""name":"Print flyers""#, #""name":"Bread","points":2"#
        )
        func flat(_ cards: [(String, String)]) -> String {
            let cards = cards.map { "{\($0.0),\"column\":\"\($0.1)\"}" }
            return "{\"cards\":[\(cards.joined(separator: ","))]}"
        }
        let alarms = #""name":"Check smoke alarms""#
        try expectReport(
            flat([(flyers, "Review"), (bread, "Review"), (alarms, "Ideas")]),
            "{\"Review\":[{\(flyers)},{\(bread)}],\"Ideas\":[{\(alarms)}]}",
            flat([(flyers, "Review"), (#""name":"Check smoke alarms soon""#, "Ideas")])
        )
    }

    @Test func `a removal beside names in several languages and a new card is reported`() throws {
        let rice = #""points":5"#
        let (base, removal) = (
            "{\"name\":\"Rice\",\(rice)},{\"name\":\"Paint the fence\",\"done\":false,\(rice)}",
            "{\"name\":\"Rice\",\(rice)}"
        )
        try expectReport(
            "{\"cards\":[\(base)]}",
            """
            {"cards":[{"name":{"en":"Hire a designer"},"done":true,"points":3},\
            {"name":{"en":"Rice"},\(rice)},{"name":{"en":"Paint the fence"},"done":false,\(rice)}]}
            """,
            "{\"cards\":[\(removal)]}"
        )
    }

    @Test func `a removal of a row is reported where the other side makes records by name`() throws
    {
        try expectReport(
            """
            {"head":["id","name","price"],"rows":[["k3","Wash the car",12.5],\
            ["k10","Sort the archive",2.99]]}
            """,
            """
            {"items":{"Wash the car":{"id":"k3","price":12.5},\
            "Sort the archive":{"id":"k10","price":2.99}}}
            """,
            #"{"head":["id","name","price"],"rows":[["k3","Wash the car",12.5]]}"#
        )
    }
}
