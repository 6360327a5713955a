import GodwitTree
import Testing

/// Rows of cells of several kinds: a cell is named by its place.
@Suite struct MergeCellTests {
    /// Expects one value, whichever side is ours, but for a contested cell.
    private func rows(
        _ base: String,
        _ ours: String,
        _ theirs: String,
        gives wanted: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let values = try [base, ours, theirs].map { try Value(json: $0) }
        let wanted = try wanted.map { try Value(json: $0) }
        for merge in [
            Merge(base: values[0], ours: values[1], theirs: values[2]),
            Merge(base: values[0], ours: values[2], theirs: values[1]),
        ] {
            #expect(wanted.contains(merge.value), sourceLocation: sourceLocation)
            let reports = merge.conflicts.filter { !$0.isNotice }
            #expect(reports.count == wanted.count - 1, sourceLocation: sourceLocation)
        }
    }

    @Test func `a cell that gets its neighbour's value stays in its column`() throws {
        try rows(
            #"[["name","price","qty"],["Mug",10.5,11],["Kettle",7.5,9],["Pan",20,8]]"#,
            #"[["name","price","qty"],["Mug",10.5,11],["Kettle",9,10],["Pan",20,8]]"#,
            #"[["name","price","qty"],["Mug",10.5,12],["Kettle",7.5,10],["Pan",20,9]]"#,
            gives: [#"[["name","price","qty"],["Mug",10.5,12],["Kettle",9,10],["Pan",20,9]]"#]
        )
        try rows(
            #"[["2026-03-04",0,1],["2026-03-05",10,7]]"#,
            #"[["2026-03-04",0,2],["2026-03-05",10,7]]"#,
            #"[["2026-03-04",1,2],["2026-03-05",10,7]]"#,
            gives: [#"[["2026-03-04",1,2],["2026-03-05",10,7]]"#]
        )
        try rows(
            #"[["2026-03-04",5,0,"F"],["2026-03-05",5,2,"B"]]"#,
            #"[["2026-03-04",5,3,"F"],["2026-03-05",5,2,"B"]]"#,
            #"[["2026-03-04",0,0,"A"],["2026-03-05",5,2,"B"]]"#,
            gives: [#"[["2026-03-04",0,3,"A"],["2026-03-05",5,2,"B"]]"#]
        )
    }

    @Test func `a time that is put off does not become the end that was before it`() throws {
        try rows(
            #"[["What","From","To"],["Choir","18:00","20:00"],["Yoga","09:00","11:30"]]"#,
            #"[["What","From","To"],["Choir","20:00","22:00"],["Yoga","09:00","11:30"]]"#,
            #"[["What","From","To"],["Choir","18:00","19:30"],["Yoga","09:00","11:30"]]"#,
            gives: [
                #"[["What","From","To"],["Choir","20:00","22:00"],["Yoga","09:00","11:30"]]"#,
                #"[["What","From","To"],["Choir","20:00","19:30"],["Yoga","09:00","11:30"]]"#,
            ]
        )
    }

    @Test func `two dates are one span where both sides change its end`() throws {
        try rows(
            #"{"span":["2026-01-01","2026-01-31"]}"#,
            #"{"span":["2026-01-31","2026-02-28"]}"#,
            #"{"span":["2026-01-01","2026-01-30"]}"#,
            gives: [
                #"{"span":["2026-01-31","2026-02-28"]}"#, #"{"span":["2026-01-01","2026-01-30"]}"#,
            ]
        )
        try expectMerge(
            #"{"days":["2026-05-01","2026-12-25"]}"#,
            #"{"days":["2026-12-25","2027-01-01"]}"#,
            #"{"days":["2026-05-01","2027-01-01"]}"#,
            gives: #"{"days":["2027-01-01"]}"#
        )
    }

    @Test func `rows whose dates all go on by one column get no empty cell`() throws {
        func sprint(_ number: Int, _ first: Int, _ last: Int) -> String {
            #"["Sprint \#(number)","2026-03-\#(first)","2026-03-\#(last)"]"#
        }
        func list(_ rows: [String]) -> String { "[\(rows.joined(separator: ","))]" }
        let base = [sprint(1, 10, 13), sprint(2, 13, 16), sprint(3, 16, 19)]
        let ours = [sprint(1, 13, 16), sprint(2, 16, 19), sprint(3, 19, 22)]
        try rows(
            list(base),
            list(ours),
            list(base + [sprint(4, 19, 22)]),
            gives: [list(ours + [sprint(4, 19, 22)])]
        )
    }

    @Test(
        arguments: [
            (#"["error","tab"]"#, "[\"error\",2]", "[\"error\",4]"),
            (#"["error",{"max":1}]"#, "[\"error\",2]", "[\"error\",3]"),
            (#"["error",4]"#, "[\"error\",\"tab\"]", "[\"error\",2]"),
            (#"["b",false]"#, "[\"b\",8]", "[\"b\",9]"),
            (#"["b","n/a",true]"#, "[\"b\",8,true]", "[\"b\",9,true]"),
        ]
    )
    func `of two values of another kind one is taken, and reported`(
        base: String,
        ours: String,
        theirs: String
    ) throws {
        try rows(base, ours, theirs, gives: [ours, theirs])
    }

    @Test func `an item of another kind that the other side removes stays, and is reported`() throws
    {
        try expectMerge(#"["b","x"]"#, #"["b",5]"#, #"["b"]"#, gives: #"["b",5]"#, isTold: true)
    }

    @Test func `a list of several kinds that stands alone is no row`() throws {
        try expectMerge(
            #"[408,429,"5xx","timeout"]"#,
            #"[408,429,"timeout","reset"]"#,
            #"[408,429,"5xx","reset"]"#,
            gives: #"[408,429,"reset"]"#
        )
        try expectMerge(
            #"[408,"429","5xx","timeout"]"#,
            #"[408,"5xx","reset","timeout"]"#,
            #"[408,"429","5xx","reset"]"#,
            gives: #"[408,"5xx","reset"]"#
        )
    }

    @Test func `a column that goes while another one comes takes its cells along`() throws {
        let merge = try Merge(
            base: Value(json: #"[["Region",2021,2022],["North",10,11],["South",20,21]]"#),
            ours: Value(json: #"[["Region",2022,2023],["North",11,12],["South",21,22]]"#),
            theirs: Value(
                json: #"[["Region",2021,2022],["North",10,11],["South",20,21],["East",40,41]]"#
            )
        )
        let wanted = #"[["Region",2022,2023],["North",11,12],["South",21,22],["East",41,null]]"#
        #expect(try merge.value == Value(json: wanted))
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `a column that goes from a timetable takes its cells along`() throws {
        try expectMerge(
            #"[["tram 1","08:00","08:30","09:00"],["bus 7","08:05","08:35","09:05"]]"#,
            #"[["tram 1","08:30","09:00","09:30"],["bus 7","08:35","09:05","09:50"]]"#,
            #"[["tram 1","08:00","08:20","08:30","09:00"],["bus 7","08:05","08:22","08:35","09:05"]]"#,
            gives:
                #"[["tram 1","08:20","08:30","09:00","09:30"],["bus 7","08:22","08:35","09:05","09:50"]]"#
        )
    }

    @Test func `two ports are no span`() throws {
        try expectMerge(
            #"{"ports":["80:80","443:443"]}"#,
            #"{"ports":["80:8080","443:443"]}"#,
            #"{"ports":["443:443","80:80"]}"#,
            gives: #"{"ports":["443:443","80:8080"]}"#
        )
    }

    @Test func `a new row is as it was written if cells were exchanged in most others`() throws {
        for last in [#"["Thu","Gus","Gus"]"#, #"["Thu","Gus","Hal"]"#] {
            try expectMerge(
                #"[["Mon","Ann","Bob"],["Tue","Cyd","Dan"],["Wed","Eve","Fay"],["Thu","Gus","Hal"]]"#,
                #"[["Mon","Bob","Ann"],["Tue","Dan","Cyd"],["Wed","Fay","Eve"],\#(last)]"#,
                #"""
                [["Mon","Ann","Bob"],["Tue","Cyd","Dan"],["Wed","Eve","Fay"],["Thu","Gus","Hal"],
                ["Fri","Ida","Jon"]]
                """#,
                gives: #"""
                    [["Mon","Bob","Ann"],["Tue","Dan","Cyd"],["Wed","Fay","Eve"],\#(last),
                    ["Fri","Ida","Jon"]]
                    """#
            )
        }
    }

    @Test func `columns change places though an edit makes two cells equal`() throws {
        try expectMerge(
            #"[["Name","Home","Work"],["Ann","11","12"],["Bob","21","22"],["Cyd","31","32"]]"#,
            #"[["Name","Work","Home"],["Ann","12","11"],["Bob","22","22"],["Cyd","32","31"]]"#,
            #"""
            [["Name","Home","Work"],["Ann","11","12"],["Bob","21","22"],["Cyd","31","32"],
            ["Eve","51","52"]]
            """#,
            gives: #"""
                [["Name","Work","Home"],["Ann","12","11"],["Bob","22","22"],["Cyd","32","31"],
                ["Eve","52","51"]]
                """#
        )
    }

    @Test func `a new pair is as it was written if a side has turned some of the others`() throws {
        try expectMerge(
            #"[["Ajax","Bonn"],["Celta","Derby"],["Elche","Fulham"],["Genoa","Hull"]]"#,
            #"[["Bonn","Ajax"],["Derby","Celta"],["Fulham","Elche"],["Genoa","Hull"]]"#,
            #"""
            [["Ajax","Bonn"],["Celta","Derby"],["Elche","Fulham"],["Genoa","Hull"],["Inter","Juve"]]
            """#,
            gives: #"""
                [["Bonn","Ajax"],["Derby","Celta"],["Fulham","Elche"],["Genoa","Hull"],["Inter","Juve"]]
                """#
        )
    }

    @Test func `columns of texts that change places take new rows and cells along`() throws {
        try expectMerge(
            #"[["First","Last","Mail"],["Ann","Ash","a@x"],["Bob","Bay","b@x"],["Cyd","Cole","c@x"]]"#,
            #"[["Last","First","Mail"],["Ash","Ann","a@x"],["Bay","Bob","b@x"],["Cole","Cyd","c@x"]]"#,
            #"""
            [["First","Last","Mail"],["Ann","Ash","a@x"],["Bob","Bay","b@x"],["Cyd","Cole","c@x"],
            ["Eve","Eck","e@x"]]
            """#,
            gives: #"""
                [["Last","First","Mail"],["Ash","Ann","a@x"],["Bay","Bob","b@x"],["Cole","Cyd","c@x"],
                ["Eck","Eve","e@x"]]
                """#
        )
        try expectMerge(
            #"[["Item","Place","Open"],["Jam","Anna","09:30"],["Eggs","Bert","12:00"],["Rice","Hugo","11:00"]]"#,
            #"[["Item","Open","Place"],["Jam","09:30","Anna"],["Eggs","10:30","Bert"],["Rice","11:00","Hugo"]]"#,
            #"""
            [["Item","Price","Place","Open"],["Jam",1,"Anna","09:30"],["Eggs",2,"Bert","12:00"],
            ["Rice",4,"Hugo","11:00"]]
            """#,
            gives: #"""
                [["Item","Price","Open","Place"],["Jam",1,"09:30","Anna"],["Eggs",2,"10:30","Bert"],
                ["Rice",4,"11:00","Hugo"]]
                """#
        )
    }
}
