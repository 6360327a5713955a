import GodwitTree
import Testing

/// Lists that look like tables, side-by-side lists or slots, and are none; and tables with few rows.
@Suite struct MergeTableDoubtTests {
    @Test func `a new record gets nothing of the lists that the other side makes longer`() throws {
        try expectMerge(
            #"[{"name":"Ann","phones":["555-1"]},{"name":"Bob","phones":["555-2"]}]"#,
            #"[{"name":"Ann","phones":["555-1","555-11"]},{"name":"Bob","phones":["555-2","555-22"]}]"#,
            """
            [{"name":"Ann","phones":["555-1"]},{"name":"Bob","phones":["555-2"]},\
            {"name":"Cid","phones":["555-3"]}]
            """,
            gives: """
                [{"name":"Ann","phones":["555-1","555-11"]},{"name":"Bob","phones":["555-2","555-22"]},\
                {"name":"Cid","phones":["555-3"]}]
                """
        )
        try expectMerge(
            #"[["Anna","Bert"],["Carl","Dora"]]"#,
            #"[["Anna","Bert","Emil"],["Carl","Dora","Fay"]]"#,
            #"[["Anna","Bert"],["Carl","Dora"],["Gil","Hans"]]"#,
            gives: #"[["Anna","Bert","Emil"],["Carl","Dora","Fay"],["Gil","Hans"]]"#
        )
    }

    @Test func `a new row gets an empty cell and not that of another row`() throws {
        try expectMerge(
            #"{"columns":["Name","Qty"],"rows":[["Ann",5],["Bob",6]]}"#,
            #"{"columns":["Name","Qty","Price"],"rows":[["Ann",5,99],["Bob",6,120]]}"#,
            #"{"columns":["Name","Qty"],"rows":[["Ann",5],["Bob",6],["Cid",7]]}"#,
            gives: #"""
                {"columns":["Name","Qty","Price"],"rows":[["Ann",5,99],["Bob",6,120],["Cid",7,null]]}
                """#
        )
    }

    @Test func `an edit stays with its record in two lists that grow in different places`() throws {
        func map(_ todo: [String], _ shop: [String]) -> String {
            #"{"todo":[\#(todo.joined(separator: ","))],"shop":[\#(shop.joined(separator: ","))]}"#
        }
        func item(_ text: String, isDone: Bool = false) -> String {
            #"{"text":"\#(text)","done":\#(isDone)}"#
        }
        let (one, two) = (item("Read chapter 1"), item("Read chapter 2"))
        let (milk, eggs, ham) = (item("Milk"), item("Eggs"), item("Ham"))
        let (zero, done) = (item("Read chapter 0"), item("Read chapter 1", isDone: true))
        try expectMerge(
            map([one, two], [milk, eggs]),
            map([zero, one, two], [milk, eggs, ham]),
            map([done, two], [milk, eggs]),
            gives: map([zero, done, two], [milk, eggs, ham])
        )
    }

    @Test func `both sides' removals from two lists of one length all count`() throws {
        try expectMerge(
            #"{"todo":["Call Ann","Pay rent"],"done":["Wash car","Fix bike"]}"#,
            #"{"todo":["Call Ann"],"done":["Wash car"]}"#,
            #"{"todo":["Pay rent"],"done":["Wash car"]}"#,
            gives: #"{"todo":[],"done":["Wash car"]}"#
        )
        let (milk, eggs) = (#"{"text":"Milk"}"#, #"{"text":"Eggs"}"#)
        let (desk, lamp) = (#"{"text":"Desk"}"#, #"{"text":"Lamp"}"#)
        func lists(_ first: String, _ second: String) -> String {
            #"[{"id":1,"items":[\#(first)]},{"id":2,"items":[\#(second)]}]"#
        }
        try expectMerge(
            lists("\(milk),\(eggs)", "\(desk),\(lamp)"),
            lists(eggs, desk),
            lists(milk, lamp),
            gives: lists("", "")
        )
    }

    @Test func `a new series has a gap where the other side puts in a label`() throws {
        try expectMerge(
            #"{"labels":["Jan","Mar","Apr"],"sales":[10,30,40]}"#,
            #"{"labels":["Jan","Feb","Mar","Apr"],"sales":[10,20,30,40]}"#,
            #"{"labels":["Jan","Mar","Apr"],"sales":[10,30,40],"costs":[5,6,7]}"#,
            gives: #"""
                {"labels":["Jan","Feb","Mar","Apr"],"sales":[10,20,30,40],"costs":[5,null,6,7]}
                """#
        )
        try expectMerge(
            #"{"labels":["Jan","Mar"],"datasets":[{"label":"sales","data":[10,30]}]}"#,
            #"{"labels":["Jan","Feb","Mar"],"datasets":[{"label":"sales","data":[10,20,30]}]}"#,
            """
            {"labels":["Jan","Mar"],"datasets":[{"label":"sales","data":[10,30]},\
            {"label":"costs","data":[5,6]}]}
            """,
            gives: """
                {"labels":["Jan","Feb","Mar"],"datasets":[{"label":"sales","data":[10,20,30]},\
                {"label":"costs","data":[5,null,6]}]}
                """
        )
    }

    @Test func `cells stay under their names where both sides move a column`() throws {
        let values = try [
            #"{"columns":["Mon","Tue","Wed","Thu"],"rows":[["","no","x","yes"],["","x","yes","x"]]}"#,
            #"{"columns":["Thu","Mon","Tue","Wed"],"rows":[["yes","","no","x"],["x","","x","yes"]]}"#,
            #"{"columns":["Mon","Tue","Thu","Wed"],"rows":[["","no","yes","x"],["","x","x","yes"]]}"#,
        ].map { try Value(json: $0) }
        func cells(_ value: Value, _ row: Int) throws -> [Value: Value] {
            let columns = try #require(value["columns"]?.list)
            let cells = try #require(value["rows"]?.list?[row].list)
            return Dictionary(uniqueKeysWithValues: zip(columns, cells))
        }
        for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
            let merged = merge(values[0], ours, theirs).value
            for row in 0...1 { #expect(try cells(merged, row) == cells(values[0], row)) }
        }
    }

    @Test func `a new row has the columns as the other side moves and removes them`() throws {
        func table(_ columns: [String], _ rows: [[String]]) -> String {
            Value.map([
                "columns": .list(Value.List(columns.map { ["id": .string(Key($0))] as Value })),
                "rows": .list(
                    Value.List(
                        rows.map { row in
                            let cells = row.dropFirst().map { Value.string(Key($0)) }
                            return ["id": .string(Key(row[0])), "cells": .list(Value.List(cells))]
                        }
                    )
                ),
            ]).jsonText()
        }
        try expectMerge(
            table(["name", "qty"], [["r1", "Ann", "five"], ["r2", "Bob", "six"]]),
            table(
                ["name", "qty"],
                [["r1", "Ann", "five"], ["r3", "Cid", "nine"], ["r2", "Bob", "six"]]
            ),
            table(["qty", "name"], [["r1", "five", "Ann"], ["r2", "six", "Bob"]]),
            gives: table(
                ["qty", "name"],
                [["r1", "five", "Ann"], ["r3", "nine", "Cid"], ["r2", "six", "Bob"]]
            )
        )
        try expectMerge(
            #"{"header":["Name","Qty","Note"],"rows":[["Ann","5","ok"],["Bob","6","hm"]]}"#,
            #"{"header":["Name","Qty","Note"],"rows":[["Bob","6","hm"],["Cid","7","new"]]}"#,
            #"{"header":["Name","Note"],"rows":[["Ann","ok"],["Bob","hm"]]}"#,
            gives: #"{"header":["Name","Note"],"rows":[["Bob","hm"],["Cid","new"]]}"#,
            isTold: true
        )
    }

    @Test func `a thing that both sides move to another slot is there once`() throws {
        let (soup, pizza) = (#"{"id":"a","dish":"Soup"}"#, #"{"id":"b","dish":"Pizza"}"#)
        let values = try [
            "[\(soup),null,null,\(pizza)]", "[null,\(soup),null,\(pizza)]",
            "[null,null,\(soup),\(pizza)]",
        ].map { try Value(json: $0) }
        for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
            let merge = merge(values[0], ours, theirs)
            #expect(merge.value == ours)
            #expect(merge.conflicts.map(\.reason) == [.bothMoved])
        }
    }

    @Test func `a thing that both sides move in a grid is told`() throws {
        let values = try [
            #"[["Ann","",""],["","Bob",""],["","",""]]"#,
            #"[["","","Ann"],["","Bob",""],["","",""]]"#,
            #"[["","",""],["","Bob",""],["Ann","",""]]"#,
        ].map { try Value(json: $0) }
        let merge = merge(values[0], values[1], values[2])
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
        #expect(merge.conflicts.first?.description.contains("it is in both") == true)
    }

    @Test func `removals from a list that is filled up with empty slots all count`() throws {
        let values = try [
            #"["sword","shield","potion",null,null]"#, #"["shield","potion",null,null,null]"#,
            #"["sword","potion",null,null,null]"#,
        ].map { try Value(json: $0) }
        for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
            let merge = merge(values[0], ours, theirs)
            let things = merge.value.list?.filter { $0 != .null }
            #expect(things == ["potion"])
        }
    }

    @Test func `a tick follows its row where the first cells are names`() throws {
        try expectMerge(
            #"[["Name","Mon","Tue"],["Eve","",""],["Hal","",""],["Bob","",""]]"#,
            #"[["Name","Mon","Tue"],["Eve","",""],["Bob","",""],["Hal","",""]]"#,
            #"[["Name","Mon","Tue"],["Eve","",""],["Hal","",""],["Bob","x",""]]"#,
            gives: #"[["Name","Mon","Tue"],["Eve","",""],["Bob","x",""],["Hal","",""]]"#
        )
        try expectMerge(
            #"[["Fay",true,true],["Bob",true,true],["Hal",true,true]]"#,
            #"[["Bob",true,true],["Hal",true,true],["Cid",true,true]]"#,
            #"[["Fay",true,true],["Bob",false,true],["Hal",true,true]]"#,
            gives: #"[["Bob",false,true],["Hal",true,true],["Cid",true,true]]"#
        )
    }

    @Test func `other slots stay where one side moves what the other removes or replaces`() throws {
        try expectMerge(
            #"[null,null,null,"Soup",null,"Stew",null]"#,
            #"[null,null,"Stew","Soup",null,null,null]"#,
            #"[null,null,null,"Soup",null,null,null]"#,
            gives: #"[null,null,"Stew","Soup",null,null,null]"#,
            isTold: true
        )
        try expectMerge(
            #"[{"id":"sword"},null,{"id":"bow"},null]"#,
            #"[{"id":"axe"},null,{"id":"bow"},null]"#,
            #"[null,{"id":"sword"},{"id":"bow"},null]"#,
            gives: #"[{"id":"axe"},{"id":"sword"},{"id":"bow"},null]"#,
            isTold: true
        )
    }

    @Test func `names beside a table keep the order of its columns`() throws {
        let values = try [
            #"{"columns":["Name","Phone"],"rows":[["Gus",65],["Mia",99]]}"#,
            #"{"columns":["Name","Phone","Qty"],"rows":[["Gus",65,"q1"],["Mia",99,"q2"]]}"#,
            #"{"columns":["Name","Tel","Zip"],"rows":[["Gus",65,"z1"],["Mia",99,"z2"]]}"#,
            #"{"columns":["Name","Tel","Qty","Zip"],"rows":[["Gus",65,"q1","z1"],["Mia",99,"q2","z2"]]}"#,
        ].map { try Value(json: $0) }
        #expect(merge(values[0], values[1], values[2]).value == values[3])
    }

    @Test func `years beside a chart are its labels`() throws {
        try expectMerge(
            #"{"labels":[2019,2020],"datasets":[{"label":"a","data":[10,30]}]}"#,
            #"{"labels":[2018,2019,2020],"datasets":[{"label":"a","data":[50,10,30]}]}"#,
            """
            {"labels":[2019,2020],"datasets":[{"label":"a","data":[10,30]},\
            {"label":"c","data":[7,8]}]}
            """,
            gives: """
                {"labels":[2018,2019,2020],"datasets":[{"label":"a","data":[50,10,30]},\
                {"label":"c","data":[null,7,8]}]}
                """
        )
    }

    @Test func `records with a name beside a table are its columns`() throws {
        func column(_ name: String) -> String { #"{"name":"\#(name)","type":"text"}"# }
        let (name, city, mail) = (column("name"), column("city"), column("email"))
        try expectMerge(
            #"{"columns":[\#(name),\#(city)],"rows":[["Ann","Rome"],["Bob","Oslo"]]}"#,
            """
            {"columns":[\(name),\(mail),\(city)],"rows":[["Ann","a@x","Rome"],["Bob","b@x","Oslo"]]}
            """,
            #"{"columns":[\#(name),\#(city)],"rows":[["Ann","Rome"],["Bob","Oslo"],["Cid","Bonn"]]}"#,
            gives: """
                {"columns":[\(name),\(mail),\(city)],\
                "rows":[["Ann","a@x","Rome"],["Bob","b@x","Oslo"],["Cid","","Bonn"]]}
                """
        )
    }

    @Test func `rows beside a list of names stay beside their names`() throws {
        let values = try [
            #"{"people":["Ann","Bob"],"present":[[true,false],[true,true]]}"#,
            #"{"people":["Ann","Bob","Eve"],"present":[[true,false],[true,true],[false,false]]}"#,
            #"{"people":["Ann","Bob","Gus"],"present":[[true,false],[true,true],[false,false]]}"#,
            #"{"people":["Bob"],"present":[[true,true]]}"#,
            #"{"people":["Ann","Bob"],"present":[[false,false],[true,true]]}"#,
        ].map { try Value(json: $0) }
        let both = merge(values[0], values[1], values[2]).value
        #expect(both["people"]?.list?.count == 4 && both["present"]?.list?.count == 4)
        let removed = merge(values[0], values[3], values[4])
        #expect(removed.value == values[3])
        #expect(removed.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `a column that is removed and another one that comes elsewhere are two`() throws {
        try expectMerge(
            #"[["Name","Phone","Age"],["Ann","",30],["Bob","",40]]"#,
            #"[["Name","Age","Email"],["Ann",30,""],["Bob",40,""]]"#,
            #"[["Name","Phone","Age"],["Ann","",30],["Bob","555",40]]"#,
            gives: #"[["Name","Age","Email"],["Ann",30,""],["Bob",40,""]]"#,
            isTold: true
        )
    }
}
