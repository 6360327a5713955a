import Foundation
import GodwitStore
import GodwitTree
import Testing

@testable import GodwitYapDatabase

/// Archives and property lists that are made to exhaust the program, or to confuse it.
@Suite struct HostileArchiveTests {
    private let place = ObjectKey(collection: "a", key: "b")

    /// A binary property list of a list of `outer` lists, which are all the same `inner` nulls.
    private func unfolding(_ outer: Int, _ inner: Int) -> [UInt8] {
        var bytes = BinaryPropertyList.magic
        var offsets: [Int] = []
        for (count, item) in [(outer, UInt8(1)), (inner, 2)] {
            offsets.append(bytes.count)
            bytes += [0xaf, 0x12] + (0..<4).reversed().map { UInt8(count >> (8 * $0) & 0xff) }
            bytes += Array(repeating: item, count: count)
        }
        offsets.append(bytes.count)
        bytes.append(0)
        let table = bytes.count
        for offset in offsets {
            bytes += (0..<4).reversed().map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) }
        }
        bytes += [0, 0, 0, 0, 0, 0, 4, 1]
        for number in [offsets.count, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return bytes
    }

    @Test func `a property list unfolds to no more memory than its size allows`() throws {
        #expect(try PropertyList(unfolding(10, 10_000)).list?.count == 10)
        #expect(throws: YapDatabaseError.self) { try PropertyList(unfolding(100, 10_000)) }
    }

    @Test func `a long text that many refer to is paid for each time`() throws {
        let text = NSString(string: String(repeating: "x", count: 100_000))
        let bytes = { (count: Int) in
            let list = NSArray(array: Array(repeating: text, count: count))
            return Array(
                try NSKeyedArchiver.archivedData(withRootObject: list, requiringSecureCoding: false)
            )
        }
        #expect(try KeyedArchive(bytes(20)).root.list?.count == 20)
        #expect(throws: YapDatabaseError.self) { try KeyedArchive(bytes(3_000)) }
    }

    @Test func `of the names of a class, sixty-four are looked at`() throws {
        let root = { (count: Int) in
            let classes = (0..<count).map { "Class\($0)" } + ["NSString"]
            let names = classes.map { "<string>\($0)</string>" }
            let xml = """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
                <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict>
                </dict><key>$objects</key><array><string>$null</string><dict>
                <key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
                <key>NS.string</key><string>text</string></dict>
                <dict><key>$classname</key><string>Class0</string><key>$classes</key>
                <array>\(names.joined())</array></dict></array></dict></plist>
                """
            return try KeyedArchive(Array(xml.utf8)).root
        }
        #expect(try root(63) == "text")
        #expect(try root(64)["$class"] == "Class0")
    }

    private func nested(_ depth: Int, _ inner: String = "") -> [UInt8] {
        let tags = String(repeating: "<array>", count: depth - 1)
        let ends = String(repeating: "</array>", count: depth - 1)
        return Array("<plist version=\"1.0\">\(tags)\(inner)\(ends)</plist>".utf8)
    }

    @Test func `property lists in XML that nest without end never reach Foundation`() throws {
        let decoders = [
            YapObjectDecoder.propertyList, .keyedArchive, .codable([String].self),
        ]
        for decoder in decoders {
            for depth in [513, 200_000] {
                #expect {
                    try decoder.body(nested(depth), place)
                } throws: {
                    ($0 as? YapDatabaseError)?.reason.contains("512 tags") == true
                }
            }
        }
        #expect(try PropertyList(nested(50)).value().list?.count == 1)
    }

    @Test(arguments: ["<!-- </array> -->", "<![CDATA[</array>]]>", "<? </array> ?>"])
    func `what looks like the end of a tag does not hide how deep a list nests`(
        _ trick: String
    ) {
        let list = nested(2, String(repeating: "<array>" + trick, count: 600))
        #expect {
            try PropertyList(list)
        } throws: {
            ($0 as? YapDatabaseError)?.reason.contains("512 tags") == true
        }
    }

    @Test(arguments: ["<array a=\"/>\">", "<array '><array><array>'>", "<array <array>"])
    func `a tag that readers read in several ways is refused`(tag: String) {
        #expect {
            try PropertyList(nested(2, tag))
        } throws: {
            ($0 as? YapDatabaseError)?.reason.contains("has a tag") == true
        }
    }

    @Test func `a long text that is said to be a number is paid for each time`() throws {
        let text = String(repeating: "x", count: 100_000)
        let root = { (count: Int) in
            let uid = "<dict><key>CF$UID</key><integer>3</integer></dict>"
            let list = Array(repeating: uid, count: count).joined()
            let xml = """
                <plist version="1.0"><dict>
                <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict>
                </dict><key>$objects</key><array><string>$null</string><dict>
                <key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
                <key>NS.objects</key><array>\(list)</array></dict>
                <dict><key>$classname</key><string>NSArray</string></dict><dict>
                <key>$class</key><dict><key>CF$UID</key><integer>4</integer></dict>
                <key>NS.number</key><string>\(text)</string></dict>
                <dict><key>$classname</key><string>NSNumber</string></dict></array></dict></plist>
                """
            return try KeyedArchive(Array(xml.utf8)).root
        }
        #expect(try root(20).list?.count == 20)
        #expect(throws: YapDatabaseError.self) { try root(1_000) }
    }

    @Test func `a list in XML with entities, zeros or another encoding is refused`() throws {
        let entity = "<!DOCTYPE plist [<!ENTITY a \"x\">]><plist><string>&a;</string></plist>"
        let encoding = "<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist><true/></plist>"
        for text in [entity, encoding, "<plist><string>\0</string></plist>"] {
            #expect(throws: YapDatabaseError.self) { try PropertyList(Array(text.utf8)) }
        }
        let sound = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/x.dtd">
            <!-- a comment --><plist version="1.0"><array><true/><string>a</string></array></plist>
            """
        #expect(try PropertyList(Array(sound.utf8)).value() == [true, "a"])
    }

    @Test func `the guarded reader looks at an object before a coder of Swift's does`() {
        let itself = unfolding(100, 10_000)
        #expect(throws: YapDatabaseError.self) {
            try YapObjectDecoder.codable([[String?]].self).body(itself, place)
        }
    }

    @Test func `keys that look alike stay apart`() throws {
        let list = ["e\u{301}": 1, "other": 2]
        var bytes = Array(try PropertyListEncoder().encode(list))
        #expect(try PropertyList(bytes).value()["e\u{301}"] == 1)
        let xml = "<plist><dict><key>\u{e9}</key><true/><key>e\u{301}</key><false/></dict></plist>"
        bytes = BinaryPropertyList.magic + [0xd2, 1, 2, 3, 4]
        bytes += [0x61, 0x00, 0xe9, 0x62, 0x00, 0x65, 0x03, 0x01, 0x09, 0x08]
        let table = bytes.count
        bytes += [8, 13, 16, 21, 22, 0, 0, 0, 0, 0, 0, 1, 1]
        for number in [5, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        #expect(try PropertyList(bytes).value() == ["\u{e9}": true, "e\u{301}": false])
        #expect(throws: Never.self) { try PropertyList(Array(xml.utf8)) }
    }
}
