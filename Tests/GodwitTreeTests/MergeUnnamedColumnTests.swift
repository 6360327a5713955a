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
}
