import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitYapDatabase

/// Keyed archives and property lists, as Foundation writes them.
@Suite struct ArchiveTests {
    private func archived(_ object: Any) throws -> [UInt8] {
        Array(
            try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        )
    }

    private func value(_ object: Any) throws -> Value { try KeyedArchive(archived(object)).root }

    @Test func `plain types become what the store's coder writes for them`() throws {
        #expect(try value(NSString(string: "Zoë")) == "Zoë")
        #expect(try value(NSNumber(value: 7)) == 7)
        #expect(try value(NSNumber(value: -7)) == -7)
        #expect(try value(NSNumber(value: 1.5)) == 1.5)
        #expect(try value(NSNumber(value: Int64.max)) == .int(.max))
        #expect(try value(NSData(data: Data([1, 2]))) == .bytes([1, 2]))
        #expect(try value(NSNull()) == .null)
        let date = Date(timeIntervalSinceReferenceDate: 1.25)
        #expect(try value(date as NSDate) == ValueEncoder().encode(date))
        let whole = Date(timeIntervalSinceReferenceDate: 12)
        #expect(try value(whole as NSDate) == ValueEncoder().encode(whole))
        let uuid = UUID()
        #expect(
            try value(NSUUID(uuidString: uuid.uuidString) as Any) == ValueEncoder().encode(uuid)
        )
        let url = try #require(URL(string: "https://example.com/a?b=c"))
        #expect(try value(url as NSURL) == ValueEncoder().encode(url))
    }

    @Test func `containers become lists and maps`() throws {
        let array = NSArray(array: [NSNumber(value: 1), NSString(string: "two"), NSNull()])
        #expect(try value(array) == [1, "two", .null])
        let dictionary = NSMutableDictionary()
        dictionary[NSString(string: "list")] = array
        dictionary[NSNumber(value: 5)] = NSString(string: "five")
        #expect(try value(dictionary) == ["list": [1, "two", .null], "5": "five"])
        #expect(try value(NSSet(array: [NSNumber(value: 3)])) == [3])
    }

    @Test func `an object of the app's class becomes a map of what it has encoded`() throws {
        let uuid = UUID()
        let operation = CloudOperation("robbie", uuid: uuid, priority: -3, userInfo: ["a": "b"])
        let archive = try KeyedArchive(Array(operation.archived()))
        #expect(archive.className == CloudOperation.archivedName)
        #expect(archive.root["contactID"] == "robbie" && archive.root["priority"] == -3)
        #expect(archive.root["uuid"]?.text == uuid.uuidString)
        #expect(archive.root["persistentUserInfo"] == ["a": "b"])
        #expect(archive.root["dependencies"] == .null)
    }

    @Test func `an archive in XML is read, too`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = .xml
        archiver.encode(NSArray(array: [NSNumber(value: 1)]), forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let bytes = Array(archiver.encodedData)
        #expect(bytes.first == UInt8(ascii: "<"))
        #expect(try KeyedArchive(bytes).root == [1])
    }

    @Test func `a decimal number keeps all of its digits`() throws {
        // -12345678901234567890.125, as a Mac archives it.
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict>
            </dict><key>$objects</key><array><string>$null</string><dict>
            <key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
            <key>NS.exponent</key><integer>-3</integer><key>NS.length</key><integer>5</integer>
            <key>NS.negative</key><true/><key>NS.mantissa.bo</key><integer>1</integer>
            <key>NS.mantissa</key><data>\(mantissa.base64EncodedString())</data></dict>
            <dict><key>$classname</key><string>NSDecimalNumber</string><key>$classes</key>
            <array><string>NSDecimalNumber</string><string>NSNumber</string></array></dict>
            </array></dict></plist>
            """
        let decimal = try #require(Decimal(string: "-12345678901234567890.125"))
        #expect(try KeyedArchive(Array(xml.utf8)).root == ValueEncoder().encode(decimal))
    }

    /// 12345678901234567890125 in words of 16 bits, each and all of them from the lowest on.
    private var mantissa: Data {
        var bytes: [UInt8] = []
        var rest = UInt128(12_345_678_901_234_567_890) * 1_000 + 125
        while bytes.count < 16 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        return Data(bytes)
    }

    @Test func `a timestamp is what the store's coder writes for a date`() throws {
        let date = Date(timeIntervalSinceReferenceDate: 123_456.75)
        let bits = date.timeIntervalSinceReferenceDate.bitPattern
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        let place = ObjectKey(collection: "a", key: "b")
        let expected = try ValueEncoder().encode(date)
        #expect(try YapObjectDecoder.timestamp.body(bytes, place) == expected)
        #expect(try YapObjectDecoder.timestamp.body(archived(date as NSDate), place) == expected)
    }

    @Test func `property lists are read in both formats`() throws {
        struct Note: Codable {
            var title = "Zoë"
            var count = -300
            var isDone = true
            var ratio = 0.5
            var data = Data([9])
            var date = Date(timeIntervalSinceReferenceDate: 86_400)
            var big = Int64.max
            var list = Array(repeating: "x", count: 40)
        }
        let expected = try ValueEncoder().encode(Note())
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let bytes = Array(try encoder.encode(Note()))
            #expect(try PropertyList(bytes).value() == expected)
        }
    }

    @Test func `bytes of another kind are refused with a sentence`() throws {
        for bytes in [[], Array("bplist00".utf8), Array("{}".utf8), Array("<x/>".utf8), [0, 1, 2]] {
            #expect(throws: YapDatabaseError.self) { try KeyedArchive(bytes) }
            #expect(throws: YapDatabaseError.self) { try PropertyList(bytes).value() }
        }
        let plist = Array(try PropertyListEncoder().encode(["a": 1]))
        #expect(throws: YapDatabaseError.unreadableData(reason: "this is no keyed archive")) {
            try KeyedArchive(plist)
        }
        #expect(throws: YapDatabaseError.self) {
            try PropertyList(archived(NSArray())).value()
        }
    }

    @Test func `a list that contains itself, or unfolds without end, is refused`() throws {
        // One object: a list whose only item is that list.
        #expect(throws: YapDatabaseError.self) { try PropertyList(list([[0]])) }
        // Each list has the next one twice: 2 to the 60th items.
        let doubling = (0..<60).map { [$0 + 1, $0 + 1] } + [[]]
        #expect(throws: YapDatabaseError.self) { try PropertyList(list(doubling)) }
        #expect(try PropertyList(list([[1, 1], []])).value() == [[], []])
    }

    /// A binary property list of lists, by the places of their items.
    private func list(_ lists: [[Int]]) -> [UInt8] {
        var bytes = BinaryPropertyList.magic
        var offsets: [UInt8] = []
        for items in lists {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)]
            bytes.append(0xa0 | UInt8(items.count))
            bytes += items.map { UInt8($0) }
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [lists.count, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return bytes
    }

    @Test func `no damaged archive stops the program`() throws {
        let sound = Array(
            CloudOperation("robbie", after: [UUID(), UUID()], userInfo: ["a": "b"]).archived()
        )
        for length in 0..<sound.count { _ = try? KeyedArchive(Array(sound[..<length])) }
        var random = Seeded(seed: 11)
        for _ in 0..<20_000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? KeyedArchive(bytes)
            _ = try? YapCloudOperation.Outline(keyedArchive: bytes)
        }
    }
}
