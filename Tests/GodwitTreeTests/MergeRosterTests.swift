import GodwitTree
import Testing

/// People beside the lists that have a row for each.
@Suite struct MergeRosterTests {
    @Test func `a person without entries is renamed where the other side moves people`() throws {
        try expectMerge(
            hours(#""Ben","Jan","Lou""#, "null,4,5"),
            hours(#""Jan","Ben","Lou""#, "4,null,5"),
            hours(#""Xena","Jan","Lou""#, "null,4,5"),
            gives: hours(#""Jan","Xena","Lou""#, "4,null,5")
        )
        try expectMerge(
            hours(#""Ben","Jan","Lou""#, "[],[4],[5]"),
            hours(#""Jan","Lou""#, "[4],[5]"),
            hours(#""Ben","Jan","Max""#, "[],[4],[5,6]"),
            gives: hours(#""Jan","Max""#, "[4],[5,6]")
        )
    }

    @Test func `an edit stays with its person where few people have rows that are alike`() throws {
        func roster(_ names: String, _ rows: String) -> String {
            #"{"names":[\#(names)],"s":[\#(rows)]}"#
        }
        let (lou, finn) = (#"{"name":"Lou"}"#, #"{"name":"Finn"}"#)
        let free = "[null,null,null]"
        try expectMerge(
            roster("\(lou),\(finn)", "[null,7,null],\(free)"),
            roster("\(lou),\(finn)", "[null,7,2],\(free)"),
            roster("\(finn),\(lou)", "\(free),[null,7,null]"),
            gives: roster("\(finn),\(lou)", "\(free),[null,7,2]")
        )
        // Nothing tells rows without entries apart but the names.
        try expectMerge(
            roster("\(lou),\(finn)", "\(free),\(free)"),
            roster("\(lou),\(finn)", "[1,null,null],\(free)"),
            roster("\(finn),\(lou)", "\(free),\(free)"),
            gives: roster("\(finn),\(lou)", "\(free),[1,null,null]")
        )
    }

    @Test func `totals stay with people who are records beside a matrix`() throws {
        func team(_ names: [String], _ rows: String, _ totals: String) -> String {
            let people = names.map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
            return #"{"team":[\#(people)],"m":[\#(rows)],"total":[\#(totals)]}"#
        }
        try expectMerge(
            team(["Ana", "Ben", "Cleo"], "[1,2],[3,4],[5,2]", "3,7,7"),
            team(["Cleo", "Ben", "Ana"], "[5,2],[3,4],[1,2]", "7,7,3"),
            team(["Dan", "Ana", "Ben", "Cleo"], "[9,9],[1,2],[3,4],[5,2]", "18,3,7,7"),
            gives: team(["Dan", "Cleo", "Ben", "Ana"], "[9,9],[5,2],[3,4],[1,2]", "18,7,7,3")
        )
        try expectMerge(
            team(["Ana", "Ben"], "[1,2],[3,4]", "3,7"),
            team(["Ben", "Ana"], "[3,4],[1,2]", "7,3"),
            team(["Ana", "Ben"], "[1,2],[3,5]", "3,8"),
            gives: team(["Ben", "Ana"], "[3,5],[1,2]", "8,3")
        )
    }

    @Test func `a list that looks the same after a move follows the names`() throws {
        try expectMerge(
            hours(#""Ana","Ben","Cleo""#, "3,5,3"),
            hours(#""Cleo","Ben","Ana""#, "3,5,3"),
            hours(#""Ana","Ben","Cleo""#, "4,5,3"),
            gives: hours(#""Cleo","Ben","Ana""#, "3,5,4")
        )
    }

    @Test func `a person is renamed and edited in one step where the other side moves people`()
        throws
    {
        func plan(_ names: String, _ shifts: String, _ hours: String) -> String {
            #"{"names":[\#(names)],"shifts":[\#(shifts)],"z":[\#(hours)]}"#
        }
        let (quin, otto) = ("[false,true]", "[false,false]")
        try expectMerge(
            plan(#""Quin","Otto""#, "\(quin),\(otto)", "[9,6,6],[20,20,16]"),
            plan(#""Otto","Quin""#, "\(otto),\(quin)", "[20,20,16],[9,6,6]"),
            plan(#""Xena","Otto""#, "\(quin),\(otto)", "[9,6,10],[20,20,16]"),
            gives: plan(#""Otto","Xena""#, "\(otto),\(quin)", "[20,20,16],[9,6,10]")
        )
    }

    @Test func `names of rows name no columns where there are as many`() throws {
        func team(_ names: String, _ shifts: String, _ route: String) -> String {
            """
            {"route":[[5,47],[\(route),45],[8,46]],"shifts":[\(shifts),[874,null,null]],\
            "team":[\(names),{"name":"Eva"}]}
            """
        }
        let (tina, yann) = (#"{"name":"Tina"}"#, #"{"name":"Yann"}"#)
        try expectMerge(
            team("\(tina),\(yann)", "[214,null,149],[null,383,310]", "6"),
            team("\(yann),\(tina)", "[null,383,310],[214,null,149]", "7"),
            team("\(tina),\(yann)", "[214,null,149],[null,null,310]", "6"),
            gives: team("\(yann),\(tina)", "[null,null,310],[214,null,149]", "7")
        )
    }

    @Test func `a list that says one thing twice leads no others`() throws {
        func plan(_ days: String, _ names: String, _ tasks: String) -> String {
            #"{"day":[\#(days)],"name":[\#(names)],"task":[\#(tasks)]}"#
        }
        for days in [["9", "9", "10"], [#""Mon""#, #""Mon""#, #""Tue""#]] {
            let (first, second, third) = (days[0], days[1], days[2])
            try expectMerge(
                plan("\(first),\(second),\(third)", #""Ann","Bob","Cleo""#, #""mow","buy","fix""#),
                plan("\(third),\(second),\(first)", #""Cleo","Bob","Ann""#, #""fix","buy","mow""#),
                plan("\(third),\(second),\(third)", #""Ann","Bob","Cleo""#, #""call","buy","fix""#),
                gives: plan(
                    "\(third),\(second),\(third)",
                    #""Cleo","Bob","Ann""#,
                    #""fix","buy","call""#
                )
            )
        }
    }

    @Test func `a check mark stays with its item where no item had one`() throws {
        func list(_ done: String, _ items: String, _ minutes: String) -> String {
            #"{"done":[\#(done)],"item":[\#(items)],"mins":[\#(minutes)]}"#
        }
        for (open, done) in [("false", "true"), ("0", "1"), (#""todo""#, #""done""#)] {
            try expectMerge(
                list("\(open),\(open)", #""rice","soap""#, "5,20"),
                list("\(open),\(open)", #""soap","rice""#, "20,5"),
                list("\(done),\(open)", #""rice","soap""#, "5,20"),
                gives: list("\(open),\(done)", #""soap","rice""#, "20,5")
            )
            try expectMerge(
                list("\(open),\(open)", #""rice","soap""#, "5,20"),
                list("\(open),\(open)", #""soap","rice""#, "20,5"),
                list("\(open),\(done),\(open)", #""tea","rice","soap""#, "9,5,20"),
                gives: list("\(open),\(open),\(done)", #""tea","soap","rice""#, "9,20,5")
            )
        }
    }

    @Test func `numbers lead where other lists go where they go`() throws {
        func cart(_ ids: String, _ counts: String, _ prices: String) -> String {
            #"{"ids":[\#(ids)],"price":[\#(prices)],"qty":[\#(counts)]}"#
        }
        try expectMerge(
            cart("101,102,103,104", "1,2,1,1", "4.5,9.9,3.2,7.7"),
            cart("101,102,103,104", "1,2,5,1", "4.5,9.9,3.2,7.7"),
            cart("101,102,104,103", "1,2,1,1", "4.5,9.9,7.7,3.2"),
            gives: cart("101,102,104,103", "1,2,1,5", "4.5,9.9,7.7,3.2")
        )
        // No other list says that these numbers are names.
        try expectMerge(
            cart("1,2,3", "7,7,8", "4.5,9.9,3.2"),
            cart("2,1,3", "7,7,8", "4.5,9.9,3.2"),
            cart("1,2,3", "7,9,8", "4.5,9.9,3.2"),
            gives: cart("2,1,3", "7,9,8", "4.5,9.9,3.2")
        )
    }

    @Test func `records without names stay with the names beside them`() throws {
        func shop(_ days: String, _ hours: String) -> String {
            #"{"days":[\#(days)],"hours":[\#(hours)]}"#
        }
        let nine = #"{"open":"09:00","close":"18:00"}"#
        let early = #"{"open":"07:30","close":"18:00"}"#
        try expectMerge(
            shop(#""Mon","Tue","Wed""#, "\(nine),\(nine),\(nine)"),
            shop(#""Mon","Tue","Wed""#, "\(nine),\(early),\(nine)"),
            shop(#""Tue","Wed""#, "\(nine),\(nine)"),
            gives: shop(#""Tue","Wed""#, "\(early),\(nine)")
        )
        // These have changed apart from the days.
        let (late, short) = (
            #"{"open":"11:00","close":"20:00"}"#, #"{"open":"10:00","close":"12:00"}"#
        )
        try expectMerge(
            shop(#""Mon","Tue""#, "\(late),\(short)"),
            shop(#""Mon","Tue","Wed""#, "\(early),\(late),\(short)"),
            shop(#""Mon","Tue""#, #"\#(late),{"open":"10:00","close":"13:00"}"#),
            gives: shop(
                #""Mon","Tue","Wed""#,
                #"\#(early),\#(late),{"open":"10:00","close":"13:00"}"#
            )
        )
    }

    private func hours(_ names: String, _ hours: String) -> String {
        #"{"names":[\#(names)],"h":[\#(hours)]}"#
    }
}
