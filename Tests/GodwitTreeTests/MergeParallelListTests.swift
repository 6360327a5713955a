import GodwitTree
import Testing

/// Lists beside each other in one map: labels and values of a chart, names of a table, and sets that are
/// equally large by chance.
@Suite struct MergeParallelListTests {
    @Test func `labels name the points of a chart, however long its keys are`() throws {
        for key in ["y", "data", "temperatures"] {
            func chart(_ labels: String, _ values: String) -> String {
                #"{"labels":[\#(labels)],"\#(key)":[\#(values)]}"#
            }
            let months = #""Jan","Feb","Mar""#
            let values =
                [chart(months, "90,110,150")]
                + [170, 180].map { chart(months + #","Apr""#, "90,110,150,\($0)") }
            let all = try values.map { try Value(json: $0) }
            let merge = merge(all[0], all[1], all[2])
            #expect(merge.value == all[2])
            #expect(!merge.conflicts.isEmpty)
        }
        try expectMerge(
            #"{"month":["Mar","Jul","May"],"s0":[156,358,392],"s1":[372,331,458]}"#,
            #"{"month":["Mar","May"],"s0":[117,392],"s1":[96,458]}"#,
            #"{"month":["Mar","Jul","May"],"s0":[156,358,392],"s1":[372,331,458],"s3":[802,528,913]}"#,
            gives: #"{"month":["Mar","May"],"s0":[117,392],"s1":[96,458],"s3":[802,913]}"#,
            isTold: true
        )
    }

    @Test func `two sets of words are no table when they are equally large`() throws {
        for (key, other) in [("include", "exclude"), ("out", "in")] as [(Key, Key)] {
            func sets(_ first: String, _ second: String) -> String {
                #"{"\#(key)":["src","lib"\#(first)],"\#(other)":["dist","tmp"\#(second)]}"#
            }
            // Which of them comes first among the keys must not matter.
            let all = try [
                sets("", ""), sets(#","test""#, #","out""#), sets(#","test""#, #","cache""#),
            ].map { try Value(json: $0) }
            for (ours, theirs) in [(all[1], all[2]), (all[2], all[1])] {
                let merge = merge(all[0], ours, theirs)
                #expect(merge.value[key] == ["src", "lib", "test"])
                #expect(merge.value[other]?.list?.count == 4)
                #expect(merge.conflicts.isEmpty)
            }
        }
    }

    @Test func `a new list is none of a table's because it is as long`() throws {
        let lists = #""include":["src","lib"],"exclude":["dist","tmp"]"#
        let longer = #""include":["src","lib","test"],"exclude":["dist","tmp","out"]"#
        for new in [#""types":["node","jest"]"#, #""range":[0,100]"#] {
            try expectMerge(
                "{\(lists)}",
                "{\(longer)}",
                "{\(lists),\(new)}",
                gives: "{\(longer),\(new)}"
            )
        }
        let bars = #""labels":["a","b"],"data":[5,6]"#
        let longerBars = #""labels":["a","b","c"],"data":[5,6,7]"#
        for new in [#""range":[0,100]"#, #""colors":["red","blue"]"#] {
            try expectMerge(
                "{\(bars)}",
                "{\(longerBars)}",
                "{\(bars),\(new)}",
                gives: "{\(longerBars),\(new)}"
            )
        }
        let ids = #""pinned":[101,102,107],"archived":[103,104,105]"#
        try expectMerge(
            "{\(ids)}",
            #"{"pinned":[101,102,107,109],"archived":[103,104,105,111]}"#,
            "{\(ids),\"muted\":[106,108,110]}",
            gives: """
                {"pinned":[101,102,107,109],"archived":[103,104,105,111],"muted":[106,108,110]}
                """
        )
    }

    @Test func `a record's own words are no cells below a list of names`() throws {
        try expectMerge(
            #"{"members":["Ann","Bob"],"expenses":[{"what":"Taxi","split":["Ann","Bob"]}]}"#,
            """
            {"members":["Ann","Bob","Cleo"],"expenses":[{"what":"Taxi","split":["Ann","Bob","Cleo"]}]}
            """,
            """
            {"members":["Ann","Bob"],"expenses":[{"what":"Taxi","split":["Ann","Bob"]},\
            {"what":"Dinner","split":["Ann","Bob"]}]}
            """,
            gives: """
                {"members":["Ann","Bob","Cleo"],"expenses":[{"what":"Taxi","split":["Ann","Bob","Cleo"]},\
                {"what":"Dinner","split":["Ann","Bob"]}]}
                """
        )
        try expectMerge(
            #"{"tags":["trip","sun"],"days":[{"date":"2025-07-01","photos":["a1.jpg","a2.jpg"]}]}"#,
            """
            {"tags":["trip","sun","sea"],\
            "days":[{"date":"2025-07-01","photos":["a1.jpg","a2.jpg","a3.jpg"]}]}
            """,
            """
            {"tags":["trip","sun"],"days":[{"date":"2025-07-01","photos":["a1.jpg","a2.jpg"]},\
            {"date":"2025-07-02","photos":["b1.jpg","b2.jpg"]}]}
            """,
            gives: """
                {"tags":["trip","sun","sea"],\
                "days":[{"date":"2025-07-01","photos":["a1.jpg","a2.jpg","a3.jpg"]},\
                {"date":"2025-07-02","photos":["b1.jpg","b2.jpg"]}]}
                """
        )
    }

    @Test func `a new series moves on with the window of a chart`() throws {
        try expectMerge(
            #"{"labels":["Jan","Feb","Mar"],"rain":[40,52,61],"sun":[90,110,150]}"#,
            #"{"labels":["Feb","Mar","Apr"],"rain":[52,61,33],"sun":[110,150,170]}"#,
            """
            {"labels":["Jan","Feb","Mar"],"rain":[40,52,61],"sun":[90,110,150],"wind":[11,12,13]}
            """,
            gives: """
                {"labels":["Feb","Mar","Apr"],"rain":[52,61,33],"sun":[110,150,170],"wind":[12,13,null]}
                """,
            isTold: true
        )
    }

    @Test func `of two lists of words the one that tells the cells their places has the names`()
        throws
    {
        func trip(_ members: String, _ tags: String, _ shares: String) -> String {
            #"{"members":[\#(members)],"tags":[\#(tags)],"expenses":[\#(shares)]}"#
        }
        func expense(_ name: String, _ shares: String) -> String {
            #"{"what":"\#(name)","shares":[\#(shares)]}"#
        }
        try expectMerge(
            trip(
                #""Uma","Yan""#,
                #""trip","rome""#,
                "\(expense("Pizza", "1,0")),\(expense("Taxi", "0,1"))"
            ),
            trip(
                #""Uma","Yan""#,
                #""trip","rome""#,
                "\(expense("Pizza", "1,96")),\(expense("Taxi", "0,1"))"
            ),
            trip(
                #""Uma","Kim","Yan""#,
                #""trip","rome","2024""#,
                "\(expense("Pizza", "1,0,0")),\(expense("Taxi", "0,0,1"))"
            ),
            gives: trip(
                #""Uma","Kim","Yan""#,
                #""trip","rome","2024""#,
                "\(expense("Pizza", "1,0,96")),\(expense("Taxi", "0,0,1"))"
            )
        )
        // An edit in place, of words that are as many, does not decide.
        try expectMerge(
            """
            {"columns":["2021","2022","2023"],"tags":["a","b","c"],\
            "rows":[{"n":"x","v":[1,1,5]},{"n":"y","v":[1,1,7]}]}
            """,
            """
            {"columns":["2021","2022","2023"],"tags":["a","beta","c"],\
            "rows":[{"n":"x","v":[1,1,5]},{"n":"y","v":[1,1,7]},{"n":"z","v":[10,20,30]}]}
            """,
            """
            {"columns":["2023","2021","2022"],"tags":["a","b","c"],\
            "rows":[{"n":"x","v":[5,1,1]},{"n":"y","v":[7,1,1]}]}
            """,
            gives: """
                {"columns":["2023","2021","2022"],"tags":["a","beta","c"],\
                "rows":[{"n":"x","v":[5,1,1]},{"n":"y","v":[7,1,1]},{"n":"z","v":[30,10,20]}]}
                """
        )
    }

    @Test(arguments: ["", #","users":["Ann","Bob","Cem","Dia"]"#, #","limits":[10,20,30,90]"#])
    func `a list that is as long and stays beside a chart changes nothing`(_ other: String) throws {
        func chart(_ labels: String, _ sales: String) -> String {
            #"{"labels":[\#(labels)],"sales":[\#(sales)]\#(other)}"#
        }
        let months = #""Jan","Feb","Mar","Apr""#
        for (labels, sales, wanted) in [
            (#""Dec",\#(months)"#, "0,0,0,15,8", "0,0,258,15,8"),
            (#""Feb","Mar","Apr""#, "0,15,8", "258,15,8"),
            (#""Feb","Mar","Apr","May""#, "0,15,8,61", "258,15,8,61"),
        ] {
            try expectMerge(
                chart(months, "0,0,15,8"),
                chart(months, "0,258,15,8"),
                chart(labels, sales),
                gives: chart(labels, wanted)
            )
        }
    }

    @Test func `a new list stays as it is beside lists that do not move together`() throws {
        try expectMerge(
            #"{"days":["MO","WE","FR"],"reminders":[10,10,10]}"#,
            #"{"days":["FR","WE","MO"],"reminders":[10,10,10]}"#,
            #"{"days":["MO","WE","FR"],"reminders":[10,10,10],"color":[200,30,10]}"#,
            gives: #"{"days":["FR","WE","MO"],"reminders":[10,10,10],"color":[200,30,10]}"#
        )
        try expectMerge(
            #"{"tags":["red","hot","new"],"grades":[1,3,2]}"#,
            #"{"tags":["red","hot","new","big"],"grades":[1,3,2,2]}"#,
            #"{"tags":["red","hot","new"],"grades":[1,3,2],"color":[255,0,128]}"#,
            gives: #"{"tags":["red","hot","new","big"],"grades":[1,3,2,2],"color":[255,0,128]}"#
        )
    }

    @Test func `a new row of a matrix stays below its columns beside the names of its rows`() throws
    {
        try expectMerge(
            #"{"students":["Ann","Bob","Cy"],"tests":["One","Two"],"grades":[[80,91],[50,75],[62,88]]}"#,
            """
            {"students":["Ann","Bob","Cy"],"tests":["Zero","One","Two"],\
            "grades":[[77,80,91],[66,50,75],[55,62,88]]}
            """,
            """
            {"students":["Ann","Bob","Cy","Dee"],"tests":["One","Two"],\
            "grades":[[80,91],[50,75],[62,88],[70,60]]}
            """,
            gives: """
                {"students":["Ann","Bob","Cy","Dee"],"tests":["Zero","One","Two"],\
                "grades":[[77,80,91],[66,50,75],[55,62,88],[null,70,60]]}
                """
        )
    }

    @Test func `an edit stays at its name where the window of a poll moves on in place`() throws {
        func poll(_ dates: String, _ ann: String, _ hal: String) -> String {
            """
            {"dates":[\(dates)],"answers":[{"name":"Ann","picks":[\(ann)]},{"name":"Hal","picks":[\(hal)]}]}
            """
        }
        let (dates, ann) = (#""Mon","Tue","Wed","Thu""#, "false,false,true,false")
        let (moved, annMoved) = (#""Mon","Tue","Thu","Fri""#, "false,false,false,false")
        try expectMerge(
            poll(dates, ann, "false,true,true,true"),
            poll(dates, ann, "false,true,true,false"),
            poll(moved, annMoved, "false,true,true,false"),
            gives: poll(moved, annMoved, "false,true,false,false")
        )
        func shares(_ members: String, _ rent: String, _ food: String) -> String {
            """
            {"members":[\(members)],\
            "expenses":[{"title":"Rent","shares":[\(rent)]},{"title":"Food","shares":[\(food)]}]}
            """
        }
        let (members, others) = (#""Ann","Bob","Cy","Dee""#, #""Ann","Bob","Dee","Eli""#)
        try expectMerge(
            shares(members, "1,1,2,1", "1,1,0,1"),
            shares(members, "1,1,2,1", "1,1,0,3"),
            shares(others, "1,1,1,1", "1,1,1,1"),
            gives: shares(others, "1,1,1,1", "1,1,3,1")
        )
    }

    @Test func `names beside as many rows are those of the columns where these move`() throws {
        try expectMerge(
            #"{"columns":["Q1","Q2","Q3"],"data":[[19,68,63],[63,100,23],[70,60,13]]}"#,
            #"{"columns":["Q1","Q2","Q3"],"data":[[19,68,63],[63,100,247],[70,60,13]]}"#,
            #"{"columns":["Q2","Q1","Q3"],"data":[[68,19,63],[100,63,23],[60,70,13]]}"#,
            gives: #"{"columns":["Q2","Q1","Q3"],"data":[[68,19,63],[100,63,247],[60,70,13]]}"#
        )
    }

    @Test func `an edit of a row of words goes where its name beside the rows goes`() throws {
        func book(_ pupils: String, _ attendance: String) -> String {
            #"{"pupils":[\#(pupils)],"attendance":[\#(attendance)]}"#
        }
        let (ada, edited) = (#"["P","P","A","P","P"]"#, #"["P","P","A","P","L"]"#)
        let (ben, cleo) = (#"["P","P","P","P","P"]"#, #"["P","L","P","P","P"]"#)
        try expectMerge(
            book(#""Ada","Ben","Cleo""#, "\(ada),\(ben),\(cleo)"),
            book(#""Ada","Ben","Cleo""#, "\(edited),\(ben),\(cleo)"),
            book(#""Cleo","Ben","Ada""#, "\(cleo),\(ben),\(ada)"),
            gives: book(#""Cleo","Ben","Ada""#, "\(cleo),\(ben),\(edited)")
        )
    }

    @Test func `a cell stays in the row of its person where the names are records`() throws {
        func roster(_ people: String, _ rows: String) -> String {
            #"{"names":[\#(people)],"days":["Mon","Tue","Wed"],"grid":[\#(rows)]}"#
        }
        let (ann, ben) = (#"{"name":"Ann","age":3}"#, #"{"name":"Ben","age":4}"#)
        let base = roster("\(ann),\(ben)", "[true,false,true],[false,false,true]")
        try expectMerge(
            base,
            roster("\(ben),\(ann)", "[false,false,true],[true,false,true]"),
            roster(#"\#(ann),{"name":"Ben","age":5}"#, "[true,false,true],[false,true,true]"),
            gives: roster(#"{"name":"Ben","age":5},\#(ann)"#, "[false,true,true],[true,false,true]")
        )
        let cy = #"{"name":"Cy","age":2}"#
        try expectMerge(
            base,
            roster("\(ann),\(cy),\(ben)", "[true,false,true],[true,false,true],[false,false,true]"),
            roster("\(ann),\(ben)", "[true,false,true],[false,true,true]"),
            gives: roster(
                "\(ann),\(cy),\(ben)",
                "[true,false,true],[true,false,true],[false,true,true]"
            )
        )
    }

    @Test func `a new card gets no empty label where another list has as many cards`() throws {
        func board(_ todo: String, _ doing: String) -> String {
            #"{"todo":[\#(todo)],"doing":[\#(doing)]}"#
        }
        func card(_ title: String, _ labels: String) -> String {
            #"{"title":"\#(title)","labels":[\#(labels)]}"#
        }
        let gate = "Fix the garden gate"
        let (lamp, dentist) = (
            card("Buy a new lamp", #""home""#), card("Call the dentist", #""health""#)
        )
        let soap = card("Order more soap", "")
        try expectMerge(
            board(card(gate, #""urgent""#), lamp),
            board(card(gate, #""urgent""#) + "," + dentist, lamp),
            board(card(gate, #""urgent","outside""#), lamp + "," + soap),
            gives: board(card(gate, #""urgent","outside""#) + "," + dentist, lamp + "," + soap)
        )
    }
}
