import GodwitTree
import Testing

/// Tables whose columns a side moves, where the names are numbers or missing, or where few cells tell.
@Suite struct MergeMovedColumnTests {
    @Test func `a column below a number or beside an empty corner keeps its cells`() throws {
        try expectMerge(
            #"[[null,"read","write","admin"],["guest",true,false,false],["owner",true,true,true]]"#,
            #"[[null,"read","admin","write"],["guest",true,false,false],["owner",true,true,true]]"#,
            #"[[null,"read","write","admin"],["guest",true,true,false],["owner",true,true,true]]"#,
            gives: """
                [[null,"read","admin","write"],["guest",true,false,true],["owner",true,true,true]]
                """
        )
        try expectMerge(
            #"[["City",2021,2022],["Rome",11,12],["Oslo",23,22],["Kiel",31,32]]"#,
            #"[["City",2022,2021],["Rome",12,11],["Oslo",22,23],["Kiel",32,31]]"#,
            #"[["City",2021,2022],["Rome",11,12],["Oslo",23,22],["Kiel",31,32],["Cork",51,52]]"#,
            gives: """
                [["City",2022,2021],["Rome",12,11],["Oslo",22,23],["Kiel",32,31],["Cork",52,51]]
                """
        )
    }

    @Test func `a new column of false cells is not the one that went`() throws {
        let merge = try merged(
            base:
                #"[["role","read","admin"],["ann",true,false],["bob",true,false],["cyd",true,true]]"#,
            ours: """
                [["role","export","read"],["ann",false,true],["bob",false,true],["cyd",false,true]]
                """,
            theirs: """
                [["role","read","admin"],["ann",true,true],["bob",true,false],["cyd",true,true]]
                """
        )
        #expect(
            try merge.value
                == Value(
                    json: """
                        [["role","export","read"],["ann",false,true],["bob",false,true],\
                        ["cyd",false,true]]
                        """
                )
        )
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `a footer, a title and a row that ends early do not hide the columns`() throws {
        let (head, owner) = (#"["role","read","write","admin"]"#, #"["owner",true,true,true]"#)
        let (newHead, note) = (#"["role","read","admin","write"]"#, #"["as of May"]"#)
        for (above, below) in [("", ",\(note)"), ("\(note),", "")] {
            try expectMerge(
                #"[\#(above)\#(head),["guest",true,true,false],\#(owner),["bot",true,false,true]\#(below)]"#,
                #"[\#(above)\#(newHead),["guest",true,false,true],\#(owner),["bot",true,true,false]\#(below)]"#,
                #"[\#(above)\#(head),["guest",true,true,false],\#(owner),["bot",true,false,false]\#(below)]"#,
                gives: """
                    [\(above)\(newHead),["guest",true,false,true],\(owner),["bot",true,false,false]\
                    \(below)]
                    """
            )
        }
        try expectMerge(
            #"[\#(head),["guest",true,false,false],\#(owner)]"#,
            #"[["role","admin","read","write"],["guest",false,true,false],\#(owner)]"#,
            #"[\#(head),["guest",true,false,false],\#(owner),["dev",true,true]]"#,
            gives: """
                [["role","admin","read","write"],["guest",false,true,false],\(owner),\
                ["dev",null,true,true]]
                """
        )
    }

    @Test func `a column behind numbers that are texts leaves them in theirs`() throws {
        for cell in ["54", "52"] {
            try expectMerge(
                #"[["No","Jan"],["1","12"],["2","31"],["3","25"]]"#,
                #"[["No","Jan","Feb"],["1","12","20"],["2","31","52"],["3","25","70"]]"#,
                #"[["No","Jan"],["1","12"],["2","\#(cell)"],["3","25"]]"#,
                gives: """
                    [["No","Jan","Feb"],["1","12","20"],["2","\(cell)","52"],["3","25","70"]]
                    """
            )
        }
    }

    @Test func `names tell that columns have moved if their cells are alike`() throws {
        try expectMerge(
            #"[["role","read","admin"],["ann",false,false],["bob",false,false]]"#,
            #"[["role","admin","read"],["ann",false,false],["bob",false,false]]"#,
            #"[["role","read","admin"],["ann",true,false],["bob",false,false]]"#,
            gives: #"[["role","admin","read"],["ann",false,true],["bob",false,false]]"#
        )
        try expectMerge(
            #"[["Name","Mon","Tue"],["Ann","",""],["Bob","x","x"]]"#,
            #"[["Name","Tue","Mon"],["Ann","",""],["Bob","x","x"]]"#,
            #"[["Name","Mon","Tue"],["Ann","early",""],["Bob","x","x"]]"#,
            gives: #"[["Name","Tue","Mon"],["Ann","","early"],["Bob","x","x"]]"#
        )
        // Nothing tells whether a first row above empty ones has names.
        try expectMerge(
            #"[["Mon","Ann","Bob"],["Tue","",""],["Wed","",""],["Thu","",""]]"#,
            #"[["Mon","Bob","Ann"],["Tue","",""],["Wed","",""],["Thu","",""]]"#,
            #"[["Mon","Ann","Bob"],["Tue","Cyd","Dan"],["Wed","",""],["Thu","",""]]"#,
            gives: #"[["Mon","Bob","Ann"],["Tue","Cyd","Dan"],["Wed","",""],["Thu","",""]]"#
        )
        // Two people that change places on one day are no names of columns.
        try expectMerge(
            #"[["Ann","Bob"],["Cyd","Cyd"],["Eva","Eva"]]"#,
            #"[["Bob","Ann"],["Cyd","Cyd"],["Eva","Eva"]]"#,
            #"[["Ann","Bob"],["Dan","Cyd"],["Eva","Eva"]]"#,
            gives: #"[["Bob","Ann"],["Dan","Cyd"],["Eva","Eva"]]"#
        )
    }

    @Test func `a new row follows columns without names that have moved in all others`() throws {
        try expectMerge(
            #"[["2024-01-01","Shop",475.5,7116],["2024-01-02","Bank",20.5,3],["2024-01-03","Post",7.5,9]]"#,
            #"[["2024-01-01","Shop",7116,475.5],["2024-01-02","Bank",3,20.5],["2024-01-03","Post",9,7.5]]"#,
            """
            [["2024-01-01","Shop",475.5,7116],["2024-01-02","Bank",20.5,3],["2024-01-03","Post",7.5,9],\
            ["2024-02-01","Zoo",5.5,6000]]
            """,
            gives: """
                [["2024-01-01","Shop",7116,475.5],["2024-01-02","Bank",3,20.5],\
                ["2024-01-03","Post",9,7.5],["2024-02-01","Zoo",6000,5.5]]
                """
        )
    }

    @Test func `other numbers in the first row do not take columns away`() throws {
        try expectMerge(
            #"[["Ann",3,6],["Bob",5,1],["Cyd",3,4]]"#,
            #"[["Ann",6,3],["Bob",1,5],["Cyd",4,3]]"#,
            #"[["Ann",5,6],["Bob",6,1],["Cyd",4,4]]"#,
            gives: #"[["Ann",6,5],["Bob",1,6],["Cyd",4,4]]"#
        )
        let merge = try merged(
            base: #"[["Ann",1,2],["Bob",4,5],["Cyd",7,8],["Dan",6,9]]"#,
            ours: #"[["Ann",2,1],["Bob",5,4],["Cyd",8,7],["Dan",9,6]]"#,
            theirs: #"[["Ann",2,3],["Bob",4,5],["Cyd",7,8],["Dan",6,9]]"#
        )
        #expect(!merge.conflicts.isEmpty)
    }

    @Test(
        arguments: [
            (
                #"["17:00","09:00"],["18:00","10:00"],["16:00","08:30"]"#,
                #"["09:00","17:00"],["10:00","18:00"],["08:30","16:00"]"#, #"["08:00","12:00"]"#
            ),
            ("[10,1],[20,5],[30,7]", "[1,10],[5,20],[7,30]", "[40,50]"),
            ("[3,1],[9,4],[5,5],[8,2]", "[1,3],[4,9],[5,5],[2,8]", "[6,7]"),
        ]
    )
    func `a span stays as it was written where a side puts start before end in all others`(
        spans: String,
        sorted: String,
        new: String
    ) throws {
        try expectMerge(
            "[\(spans)]",
            "[\(sorted)]",
            "[\(spans),\(new)]",
            gives: "[\(sorted),\(new)]"
        )
    }

    @Test func `a row that both sides put in below the same columns is there once`() throws {
        let rows = #"["Name","City","Age"],["Ann","Rome",1],["Bob","Oslo",2],["Cyd","Kiel",3]"#
        try expectMerge(
            #"[["Name","Age","City"],["Ann",1,"Rome"],["Bob",2,"Oslo"],["Cyd",3,"Kiel"]]"#,
            #"[\#(rows),["Eve","Bonn",9]]"#,
            #"[\#(rows.replacing("Rome", with: "Nice")),["Eve","Bonn",9]]"#,
            gives: #"[\#(rows.replacing("Rome", with: "Nice")),["Eve","Bonn",9]]"#
        )
    }

    @Test func `equal rows below different new columns have a cell in each`() throws {
        let merge = try merged(
            base: #"[["Name","Age"],["Ann",1],["Bob",2],["Cyd",3]]"#,
            ours: """
                [["Name","Room","Age"],["Ann","r1",1],["Bob","r2",2],["Cyd","r3",3],["Eve","x",9]]
                """,
            theirs: """
                [["Name","Phone","Age"],["Ann","p1",1],["Bob","p2",2],["Cyd","p3",3],["Eve","x",9]]
                """
        )
        let rows = try #require(merge.value.list?.suffix(2))
        #expect(
            try Set(rows) == [
                Value(json: #"["Eve","x","",9]"#), Value(json: #"["Eve","","x",9]"#),
            ]
        )
    }

    @Test func `two records of one id are one, and their different cells are told`() throws {
        func table(_ names: String, _ rows: [String]) -> String {
            let rows = rows.enumerated().map { #"{"id":"r\#($0)","cells":\#($1)}"# }
            return #"{"columns":\#(names),"rows":[\#(rows.joined(separator: ","))]}"#
        }
        let moved = [#"["Ann","Rome",1]"#, #"["Bob","Oslo",2]"#, #"["Cyd","Kiel",3]"#]
        let names = #"["Name","City","Age"]"#
        let merge = try merged(
            base: table(
                #"["Name","Age","City"]"#,
                [#"["Ann",1,"Rome"]"#, #"["Bob",2,"Oslo"]"#, #"["Cyd",3,"Kiel"]"#]
            ),
            ours: table(names, moved + [#"["Eve","Bonn",9]"#]),
            theirs: table(names, moved + [#"["Eve","Bonn",10]"#])
        )
        #expect(merge.value["rows"]?.list?.count == 4)
        #expect(merge.conflicts.count == 1)
    }

    @Test func `a column below null is moved, and its removal beside edits is told`() throws {
        let base = #"[["Name","Won",null,"Pts"],["Ann",1,2,4],["Bob",3,5,6],["Cyd",7,13,8]]"#
        let counted = #"[["Name","Won",null,"Pts"],["Ann",1,3,4],["Bob",3,6,6],["Cyd",7,14,8]]"#
        try expectMerge(
            base,
            #"[["Name","Won","Pts",null],["Ann",1,4,2],["Bob",3,6,5],["Cyd",7,8,13]]"#,
            counted,
            gives: #"[["Name","Won","Pts",null],["Ann",1,4,3],["Bob",3,6,6],["Cyd",7,8,14]]"#
        )
        let merge = try merged(
            base: base,
            ours: #"[["Name","Won","Pts"],["Ann",1,4],["Bob",3,6],["Cyd",7,8]]"#,
            theirs: counted
        )
        #expect(merge.conflicts.map(\.reason) == Array(repeating: .removedAndEdited, count: 3))
    }

    @Test func `names that go on by one day take their cells along`() throws {
        try expectMerge(
            """
            [["Name","Mon","Tue","Wed"],["Ann","","",""],["Bob","","",""],["Cyd","x","",""]]
            """,
            """
            [["Name","Tue","Wed","Thu"],["Ann","","",""],["Bob","","",""],["Cyd","","",""]]
            """,
            """
            [["Name","Room","Mon","Tue","Wed"],["Ann","r1","","y",""],["Bob","r2","","",""],\
            ["Cyd","r3","x","",""]]
            """,
            gives: """
                [["Name","Room","Tue","Wed","Thu"],["Ann","r1","y","",""],["Bob","r2","","",""],\
                ["Cyd","r3","","",""]]
                """
        )
        try expectMerge(
            #"[["","","Mon","Tue"],["Ann","x",0,0],["Bob","y",0,0],["Cyd","z",3,4]]"#,
            #"[["","","Tue","Mon"],["Ann","x",0,0],["Bob","y",0,0],["Cyd","z",4,3]]"#,
            #"[["","","Mon","Tue"],["Ann","x",5,0],["Bob","y",0,0],["Cyd","z",3,4]]"#,
            gives: #"[["","","Tue","Mon"],["Ann","x",0,5],["Bob","y",0,0],["Cyd","z",4,3]]"#
        )
    }

    @Test func `a column of ticks without a name is moved by both sides, and is there once`() throws
    {
        try expectMerge(
            #"[["Name","","Age"],["Ann",true,1],["Bob",false,2],["Cyd",true,3]]"#,
            #"[["Name","Age",""],["Ann",1,true],["Bob",2,false],["Cyd",3,true]]"#,
            #"[["Name","Age",""],["Ann",1,true],["Bob",2,true],["Cyd",3,true]]"#,
            gives: #"[["Name","Age",""],["Ann",1,true],["Bob",2,true],["Cyd",3,true]]"#
        )
        try expectMerge(
            #"[["Name","","Age"],["Ann","x",1],["Bob","",2],["Cyd","x",3]]"#,
            #"[["Name","","City","Age"],["Ann","x","Rome",1],["Bob","","Oslo",2],["Cyd","x","Kiel",3]]"#,
            #"[["Name","Age"],["Ann",1],["Bob",2],["Cyd",3]]"#,
            gives: #"[["Name","City","Age"],["Ann","Rome",1],["Bob","Oslo",2],["Cyd","Kiel",3]]"#
        )
        try expectMerge(
            #"[["Ann",null,"late","Bonn"],["Bob",null,"early","Oslo"],["Cyd",null,"early","Lyon"]]"#,
            #"[["Ann",null,"Bonn","late"],["Bob",null,"Oslo","early"],["Cyd",null,"Lyon","early"]]"#,
            #"[["Ann",null,"Bonn","late"],["Bob",27,"Oslo","early"],["Cyd",null,"Lyon","early"]]"#,
            gives:
                #"[["Ann",null,"Bonn","late"],["Bob",27,"Oslo","early"],["Cyd",null,"Lyon","early"]]"#
        )
    }

    @Test func `rows of any length end in a merge`() throws {
        try expectMerge(
            #"[["n"],[1],[2]]"#,
            #"[["id","n"],["a",1],["b",2]]"#,
            "[[\"n\"],[1],[2],[3,4]]",
            gives: #"[["id","n"],["a",1],["b",2],[3,4]]"#
        )
        let merge = try merged(
            base: #"[["name","n","m"],["Ann",1,2],["Bob",2,3]]"#,
            ours: "[[],[],[]]",
            theirs: #"[["name","n","m"],["Ann",1,2],["Bob",2,3],["Cyd",4]]"#
        )
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited, .removedAndEdited])
        let city = try merged(
            base: #"[["name","age","city"],["Ann",3,"Rome"],["Bob",5],["Cyd",7,"Oslo"]]"#,
            ours: #"[["city","name","age"],["Rome","Ann",3],["","Bob",5],["Oslo","Cyd",7]]"#,
            theirs: #"[["name","age","city"],["Ann",3,"Rome"],["Bob",5,"Kiel"],["Cyd",7,"Oslo"]]"#
        )
        #expect(city.conflicts.map(\.reason) == [.replacedAndEdited])
    }

    @Test func `equal rows that each side puts in below other columns are two`() throws {
        let merge = try merged(
            base: #"[["role","read","write"],["guest",true,false],["user",true,true]]"#,
            ours:
                #"[["role","write","read"],["guest",false,true],["user",true,true],["dev",true,false]]"#,
            theirs: """
                [["role","read","write"],["guest",true,false],["user",true,true],["dev",true,false]]
                """
        )
        let rows = try #require(merge.value.list?.dropFirst(3))
        #expect(
            try Set(rows) == [
                Value(json: #"["dev",true,false]"#), Value(json: #"["dev",false,true]"#),
            ]
        )
    }
}
