import GodwitTree
import Testing

/// Tables with columns without a name, and cells that a side has copied.
@Suite struct MergeUnnamedColumnTests {
    @Test func `a new column of ticks without a name does not take the place of another one`()
        throws
    {
        try expectMerge(
            #"[["Name","","Age"],["Ann",true,1],["Bob",false,2],["Cyd",false,3]]"#,
            """
            [["","Name","","Age"],[false,"Ann",true,1],[false,"Bob",false,2],[false,"Cyd",false,3]]
            """,
            #"[["Name","","Age"],["Ann",true,1],["Bob",true,2],["Cyd",false,3]]"#,
            gives: """
                [["","Name","","Age"],[false,"Ann",true,1],[false,"Bob",true,2],[false,"Cyd",false,3]]
                """
        )
        try expectMerge(
            #"[["Name","Paid","Age"],["Ann",true,1],["Bob",false,2],["Cyd",false,3]]"#,
            """
            [["","Name","Settled","Age"],[false,"Ann",true,1],[false,"Bob",false,2],[false,"Cyd",false,3]]
            """,
            #"[["Name","Paid","Age"],["Ann",true,1],["Bob",true,2],["Cyd",false,3]]"#,
            gives: """
                [["","Name","Settled","Age"],[false,"Ann",true,1],[false,"Bob",true,2],\
                [false,"Cyd",false,3]]
                """
        )
        try expectMerge(
            #"[["Name","","City",""],["Ann",false,"Rome",false],["Bob",false,"Oslo",false]]"#,
            #"[["Name","City",""],["Ann","Rome",false],["Bob","Oslo",false]]"#,
            #"[["Name","","City",""],["Ann",false,"Rome",false],["Bob",false,"Oslo",true]]"#,
            gives: #"[["Name","City",""],["Ann","Rome",false],["Bob","Oslo",true]]"#
        )
    }

    /// A base, ours with the edited column removed, and theirs.
    static let removals = [
        (
            #"[["Name","Paid","","Age"],["Ann",true,true,1],["Bob",false,false,2],["Cyd",true,false,3]]"#,
            #"[["Name","","Age"],["Ann",true,1],["Bob",false,2],["Cyd",true,3]]"#,
            #"[["Name","Paid","","Age"],["Ann",false,true,1],["Bob",false,false,2],["Cyd",true,false,3]]"#
        ),
        (
            #"[["Name","","City",""],["Ann",false,"Rome",false],["Bob",false,"Oslo",false]]"#,
            #"[["Name","City",""],["Ann","Rome",false],["Bob","Oslo",false]]"#,
            #"[["Name","","City",""],["Ann",false,"Rome",false],["Bob",true,"Oslo",false]]"#
        ),
        (
            #"[["Name","Paid","Age"],["Ann",true,1],["Bob",false,2],["Cyd",false,3]]"#,
            #"[["Name","Age",""],["Ann",1,false],["Bob",2,false],["Cyd",3,false]]"#,
            #"[["Name","Paid","Age"],["Ann",true,1],["Bob",true,2],["Cyd",false,3]]"#
        ),
    ]

    @Test(arguments: removals)
    func `an edit of a removed column is told, and goes to no column without a name`(
        base: String,
        ours: String,
        theirs: String
    ) throws {
        let merge = try merged(base: base, ours: ours, theirs: theirs)
        #expect(try merge.value == Value(json: ours))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `nothing above cells is a name's place, wherever it stands`() throws {
        try expectMerge(
            #"[[null,"Mon","Tue"],["Ann",true,false],["Bob",true,true],["Cyd",false,true]]"#,
            """
            [["Team",null,"Tue","Mon"],["a","Ann",false,true],["a","Bob",true,true],["b","Cyd",true,false]]
            """,
            #"[[null,"Mon","Tue"],["Ann",true,false],["Bob",false,true],["Cyd",false,true]]"#,
            gives: """
                [["Team",null,"Tue","Mon"],["a","Ann",false,true],["a","Bob",true,false],\
                ["b","Cyd",true,false]]
                """
        )
        try expectMerge(
            #"[["Name",null,"read","write"],["Ann","x",true,false],["Bob","y",true,true]]"#,
            #"[["Name",null,"write","read"],["Ann","x",false,true],["Bob","y",true,true]]"#,
            #"[["Name",null,"read","write"],["Ann","x",true,true],["Bob","y",true,true]]"#,
            gives: #"[["Name",null,"write","read"],["Ann","x",true,true],["Bob","y",true,true]]"#
        )
    }

    @Test func `equal rows below other new columns at the end are two`() throws {
        let merge = try merged(
            base: #"[["Name","Age"],["Ann",1],["Bob",2],["Cyd",3]]"#,
            ours:
                #"[["Name","Age","Room"],["Ann",1,"a"],["Bob",2,"b"],["Cyd",3,"c"],["Eve",9,"x"]]"#,
            theirs:
                #"[["Name","Age","Phone"],["Ann",1,"p"],["Bob",2,"q"],["Cyd",3,"r"],["Eve",9,"x"]]"#
        )
        let rows = try #require(merge.value.list?.suffix(2))
        #expect(
            try Set(rows) == [
                Value(json: #"["Eve",9,"x",""]"#), Value(json: #"["Eve",9,"","x"]"#),
            ]
        )
        try expectMerge(
            #"[["Name","Age"],["Ann",1],["Bob",2],["Cyd",3]]"#,
            #"[["Name","Age","Room"],["Ann",1,"a"],["Bob",2,"b"],["Cyd",3,"c"],["Eve",9,"x"]]"#,
            #"[["Name","Age","Room"],["Ann",1,"a"],["Bob",2,"b"],["Cyd",3,"c"],["Eve",9,"x"]]"#,
            gives:
                #"[["Name","Age","Room"],["Ann",1,"a"],["Bob",2,"b"],["Cyd",3,"c"],["Eve",9,"x"]]"#
        )
    }

    @Test func `a column that a side has copied is there as often as on that side`() throws {
        for (base, ours, new) in [
            (
                #"["A",0,"Eve"],["B",0,"Eve"],["C",0,"Eve"]"#,
                #"["A","Eve",0,0],["B","Eve",0,0],["C","Eve",0,0]"#, #"["D",1,"Bob"]"#
            ),
            (
                #"["Tea",4,20],["Jam",15,3],["Oil",9,12]"#,
                #"["Tea",20,4,4],["Jam",3,15,15],["Oil",12,9,9]"#, #"["Fig",7,8]"#
            ),
        ] {
            let merge = try merged(base: "[\(base)]", ours: "[\(ours)]", theirs: "[\(base),\(new)]")
            #expect(
                try merge.value.list?.dropLast().elementsEqual(Value(json: "[\(ours)]").list ?? [])
                    == true
            )
            #expect(merge.value.list?.count == 4)
        }
    }

    @Test func `a column is found beside one that was replaced, though the only one that moved`()
        throws
    {
        try expectMerge(
            #"[["Tea",98,1],["Jam",10,84],["Oil",63,30],["Rye",28,35]]"#,
            #"[["Tea",41,1,98],["Jam",53,84,10],["Oil",84,30,63],["Rye",24,35,28]]"#,
            #"[["Tea",98,1],["Jam",10,84],["Oil",63,30],["Rye",28,35],["Fig",56,54]]"#,
            gives: """
                [["Tea",41,1,98],["Jam",53,84,10],["Oil",84,30,63],["Rye",24,35,28],["Fig",null,54,56]]
                """
        )
        try expectMerge(
            #"[["City",2021,2022],["Rome",11,12],["Oslo",21,22],["Kiel",31,32]]"#,
            #"[["City",2022,2021],["Rome",12,11],["Oslo",22,21],["Kiel",32,31]]"#,
            #"[["City",2021,2022],["Rome",11,12],["Oslo",21,22],["Kiel",31,32],["Cork",51,52]]"#,
            gives: """
                [["City",2022,2021],["Rome",12,11],["Oslo",22,21],["Kiel",32,31],["Cork",52,51]]
                """
        )
    }

    /// A row of both sides below a new column of each, and how often it is there.
    static let shared = [
        (#"["Eve",9,""]"#, 1), (#"["Eve",9]"#, 1), (#"["End"]"#, 1), (#"["","",""]"#, 1),
        (#"["Eve",9,"x"]"#, 2),
    ]

    @Test(arguments: shared)
    func `a row of both sides that says nothing of their new columns is there once`(
        row: String,
        count: Int
    ) throws {
        let merge = try merged(
            base: #"[["Name","Age"],["Ann",1],["Bob",2],["Cyd",3]]"#,
            ours: #"[["Name","Age","Room"],["Ann",1,"a"],["Bob",2,"b"],["Cyd",3,"c"],\#(row)]"#,
            theirs: #"[["Name","Age","Phone"],["Ann",1,"p"],["Bob",2,"q"],["Cyd",3,"r"],\#(row)]"#
        )
        #expect(merge.value.list?.count == 4 + count, "\(merge.value)")
    }

    @Test func `a column that gets a name is not another one that comes without a name`() throws {
        try expectMerge(
            #"[["Item","Net",""],["Tea",4,"EUR"],["Jam",2,"EUR"],["Oil",3,"USD"],["Rye",5,"EUR"]]"#,
            """
            [["Item","Net","Currency","Gross",""],["Tea",4,"EUR",5,"EUR"],["Jam",2,"EUR",3,"EUR"],\
            ["Oil",3,"USD",4,"USD"],["Rye",5,"EUR",6,"EUR"]]
            """,
            #"[["Item","Net",""],["Tea",4,"USD"],["Jam",2,"EUR"],["Oil",3,"USD"],["Rye",5,"EUR"]]"#,
            gives: """
                [["Item","Net","Currency","Gross",""],["Tea",4,"USD",5,"EUR"],["Jam",2,"EUR",3,"EUR"],\
                ["Oil",3,"USD",4,"USD"],["Rye",5,"EUR",6,"EUR"]]
                """
        )
    }

    @Test func `two columns of ticks without names stay two`() throws {
        let merge = try merged(
            base: """
                [["Name","","City",""],["Ann",false,"Rome",false],["Bob",true,"Oslo",true],\
                ["Cyd",true,"Kiel",true],["Dan",false,"Bonn",true],["Eve",false,"Cork",false]]
                """,
            ours: """
                [["Name","","City","Note",""],["Ann",false,"Rome","n",true],["Bob",true,"Oslo","n",true],\
                ["Cyd",true,"Kiel","n",true],["Dan",false,"Bonn","n",true],["Eve",false,"Cork","n",false]]
                """,
            theirs: """
                [["Name","","City","Tel",""],["Ann",false,"Rome",1,false],["Bob",true,"Oslo",2,true],\
                ["Cyd",true,"Kiel",3,true],["Dan",false,"Bonn",4,true],["Eve",false,"Cork",5,false]]
                """
        )
        let wanted = try Value(
            json: """
                [["Name","","City","Note","Tel",""],["Ann",false,"Rome","n",1,true],\
                ["Bob",true,"Oslo","n",2,true],["Cyd",true,"Kiel","n",3,true],\
                ["Dan",false,"Bonn","n",4,true],["Eve",false,"Cork","n",5,false]]
                """
        )
        #expect(merge.value == wanted)
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `columns that change places are found beside a new one without a name`() throws {
        try expectMerge(
            #"[["Name","","Won","Lost"],["Ann",11,1,2],["Bob",12,3,5],["Cyd",13,7,6]]"#,
            """
            [["Name","","","Lost","Won"],["Ann",11,"x",2,1],["Bob",12,"y",5,3],["Cyd",13,"z",6,7]]
            """,
            #"[["Name","","Won","Lost"],["Ann",11,1,2],["Bob",12,3,5],["Cyd",13,7,6],["Dan",14,8,9]]"#,
            gives: """
                [["Name","","","Lost","Won"],["Ann",11,"x",2,1],["Bob",12,"y",5,3],["Cyd",13,"z",6,7],\
                ["Dan",14,"",9,8]]
                """
        )
    }

    @Test func `columns that change places are found beside one that gets another name`() throws {
        try expectMerge(
            #"[["Name","Age","Home"],["Ann",1,"Rome"],["Bob",2,"Oslo"],["Cyd",3,"Kiel"]]"#,
            #"[["Home","Years","Name"],["Rome",1,"Ann"],["Oslo",2,"Bob"],["Kiel",3,"Cyd"]]"#,
            """
            [["Name","Age","Home"],["Ann",1,"Rome"],["Bob",2,"Oslo"],["Cyd",3,"Kiel"],["Dan",4,"Bonn"]]
            """,
            gives: """
                [["Home","Years","Name"],["Rome",1,"Ann"],["Oslo",2,"Bob"],["Kiel",3,"Cyd"],\
                ["Bonn",4,"Dan"]]
                """
        )
    }

    @Test
    func `a column without a name elsewhere is another one, unless they have a cell in common`()
        throws
    {
        let base = #"[["Name","","Won","Lost"],["Ann",11,1,2],["Bob",12,3,5],["Cyd",13,7,6]]"#
        let theirs = base.replacing("12", with: "99")
        let replaced =
            #"[["Name","Won","","Lost"],["Ann",1,"x",2],["Bob",3,"y",5],["Cyd",7,"z",6]]"#
        let merge = try merged(base: base, ours: replaced, theirs: theirs)
        #expect(try merge.value == Value(json: replaced))
        #expect(!merge.conflicts.isEmpty)
        let moved = #"[["Name","Won","","Lost"],["Ann",1,11,2],["Bob",3,12,5],["Cyd",7,13,6]]"#
        try expectMerge(base, moved, theirs, gives: moved.replacing("12", with: "99"))
    }

    @Test func `an empty column without a name is found where it went`() throws {
        try expectMerge(
            #"[["Name","","Won","Lost"],["Ann","",1,2],["Bob","",3,5],["Cyd","",7,6]]"#,
            #"[["Name","Won","","Lost"],["Ann",1,"",2],["Bob",3,"",5],["Cyd",7,"",6]]"#,
            #"[["Name","","Won","Lost"],["Ann","",1,2],["Bob","hi",3,5],["Cyd","",7,6]]"#,
            gives: #"[["Name","Won","","Lost"],["Ann",1,"",2],["Bob",3,"hi",5],["Cyd",7,"",6]]"#
        )
    }

    @Test func `a row of both sides is put in order where each has put a column before others`()
        throws
    {
        for (jan, feb, total) in [("1", "4", #""Total","""#), ("true", "4", #""Total",null"#)] {
            let base = #"["Name","Sum"],["Ann",10],["Bob",20],["Cyd",30]"#
            let new = { (name: String, cell: String) in
                """
                ["Name","\(name)","Sum"],["Ann",\(cell),10],["Bob",\(cell),20],["Cyd",\(cell),30],\
                [\(total),60]
                """
            }
            let merge = try merged(
                base: "[\(base)]",
                ours: "[\(new("Jan", jan))]",
                theirs: "[\(new("Feb", feb))]"
            )
            let rows = try #require(merge.value.list)
            #expect(rows.count == 5)
            #expect(try rows.last == Value(json: "[\(total),\(total.split(separator: ",")[1]),60]"))
            #expect(merge.conflicts.isEmpty)
        }
    }

    @Test func `a row of both sides is put in order where each has removed another column`() throws
    {
        try expectMerge(
            #"[["Name","Jan","Feb","Sum"],["Ann",1,2,3],["Bob",4,5,9],["Cyd",6,7,13]]"#,
            #"[["Name","Feb","Sum"],["Ann",2,3],["Bob",5,9],["Cyd",7,13],["Total","",60]]"#,
            #"[["Name","Jan","Sum"],["Ann",1,3],["Bob",4,9],["Cyd",6,13],["Total","",60]]"#,
            gives: #"[["Name","Sum"],["Ann",3],["Bob",9],["Cyd",13],["Total",60]]"#
        )
    }

    @Test func `a row of both sides that is longer than one side's table is there once`() throws {
        let base = #"["Name","Age","City"],["Ann",1,"Rome"],["Bob",2,"Oslo"],["Cyd",3,"Kiel"]"#
        let theirs = """
            [["Name","Age","City","Room"],["Ann",1,"Rome",7],["Bob",2,"Oslo",8],["Cyd",3,"Kiel",9],\
            ["Dan",4,"Bonn",5]]
            """
        try expectMerge("[\(base)]", #"[\#(base),["Dan",4,"Bonn",5]]"#, theirs, gives: theirs)
    }

    /// A base, ours with the column of ticks named and another one beside it, and what comes of it.
    static let namings = [
        #"[["Name","Paid","Age",""],["Ann",false,1,false],["Bob",false,2,false],["Dan",true,4,false]]"#,
        #"[["Name","Paid","","Age"],["Ann",false,false,1],["Bob",false,false,2],["Dan",true,false,4]]"#,
        #"[["","Name","Paid","Age"],[false,"Ann",false,1],[false,"Bob",false,2],[false,"Dan",true,4]]"#,
    ]

    @Test(arguments: namings)
    func `a column of ticks that gets a name keeps its ticks beside a new one without`(
        ours: String
    ) throws {
        let base = #"[["Name","","Age"],["Ann",false,1],["Bob",false,2],["Dan",true,4]]"#
        let ticked = #""Bob",true"#
        try expectMerge(
            base,
            ours,
            base.replacing(#""Bob",false"#, with: ticked),
            gives: ours.replacing(#""Bob",false"#, with: ticked)
        )
    }

    @Test func `an edit of a removed empty column goes to no new one in its place`() throws {
        let base = #"[["Name","Note","Age"],["Ann","",1],["Bob","",2],["Cyd","",3]]"#
        let ours = """
            [["Name","Tel","City","Age"],["Ann","","x",1],["Bob","","y",2],["Cyd","","z",3]]
            """
        let theirs = base.replacing(#""Bob","""#, with: #""Bob","hello""#)
        let merge = try merged(base: base, ours: ours, theirs: theirs)
        #expect(try merge.value == Value(json: ours))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a row of both sides that is as long as one side's table stays as it is`() throws {
        let merge = try merged(
            base: #"[["Name","Sum"],["Ann",10],["Bob",20],["Cyd",30]]"#,
            ours: """
                [["Name","Sum","Tel","City"],["Ann",10,2,"Rome"],["Bob",20,4,"Oslo"],\
                ["Cyd",30,6,"Kiel"],["Total",60,"EUR"]]
                """,
            theirs: """
                [["Name","Sum","Note"],["Ann",10,"a"],["Bob",20,"b"],["Cyd",30,"c"],["Total",60,"EUR"]]
                """
        )
        #expect(try merge.value.list?.last == Value(json: #"["Total",60,"EUR"]"#))
        #expect(merge.value.list?.count == 5)
    }
}
