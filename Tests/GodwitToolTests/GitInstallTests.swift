import Foundation
import GodwitTestKit
import Testing

/// What `godwit git install` writes, and what it leaves alone.
@Suite struct GitInstallTests {
    private let repository: Repository

    init() throws {
        repository = try Repository()
        try repository.godwit("git", "install")
    }

    @Test func `the installation can be repeated, and leaves what is there`() throws {
        let attributes = try repository.text(".gitattributes")
        #expect(attributes.contains("*.ipynb merge=godwit diff=godwit\n"))
        let config = try repository.git("config", "--list").output
        #expect(config.contains("merge.godwit.driver="))
        let again = try repository.godwit("git", "install")
        #expect(again.status == 0 && again.output.contains("merge.godwit.driver is set already"))
        #expect(try repository.text(".gitattributes") == attributes)
        #expect(try repository.git("config", "--list").output == config)
        let own = "godwit merge-driver --policy /version=max %O %A %B -- %P"
        try repository.git("config", "merge.godwit.driver", own)
        #expect(try repository.godwit("git", "install").output.contains("stays: \(own)"))

        try repository.write("*.lock merge=ours", to: ".gitattributes")
        try repository.godwit("git", "install", "*.lock", "x.json")
        #expect(
            try repository.text(".gitattributes")
                == "x.json merge=godwit diff=godwit\n*.lock merge=ours"
        )
        #expect(try repository.godwit("git", "install", "a b").status == 64)
    }

    @Test func `the installation keeps attributes in whatever encoding, and reads tabs`() throws {
        let latin = Data([0x23, 0x20, 0xe9, 0x0a]) + Data("*.json\tmerge=ours\n".utf8)
        try repository.write(latin, to: ".gitattributes")
        #expect(try repository.godwit("git", "install", "*.json", "*.geo").status == 0)
        let new = Data("*.geo merge=godwit diff=godwit\n".utf8)
        #expect(try repository.data(".gitattributes") == new + latin)
        let mark = Data([0xef, 0xbb, 0xbf])
        try repository.write(mark + latin, to: ".gitattributes")
        #expect(try repository.godwit("git", "install", "*.geo").status == 0)
        #expect(try repository.data(".gitattributes") == mark + new + latin)
    }

    @Test func `the installation changes nothing for files that have their own attributes`() throws
    {
        let own = """
            config/prod.json merge=ours
            lock.json -merge
            secret.json binary

            """
        try repository.write(own, to: ".gitattributes")
        let files = ["config/prod.json", "lock.json", "secret.json"]
        func attributes() throws -> [String] {
            try files.map { try repository.git("check-attr", "merge", "diff", $0).output }
        }
        let before = try attributes().map {
            $0.replacing("diff: unspecified", with: "diff: godwit")
        }
        try repository.godwit("git", "install")
        #expect(try attributes() == before)
        #expect(try repository.git("check-attr", "merge", "a.json").output.contains("godwit"))
        try repository.write("*.json -merge\n", to: ".gitattributes")
        try repository.godwit("git", "install", "*.json")
        #expect(try repository.text(".gitattributes") == "*.json -merge\n")
    }

    @Test(
        arguments: [
            ("merge.godwit.driver", "/opt/wrapper %O %A %B %P"),
            ("merge.godwit.recursive", "text"),
            (
                "merge.godwit-base.driver",
                "godwit merge-driver --virtual-base --identity /=sku %O %A %B"
            ),
            ("diff.godwit.textconv", "jq -S ."),
        ]
    )
    func `the installation keeps a setting of the user's own`(key: String, value: String) throws {
        try repository.git("config", key, value)
        #expect(try repository.godwit("git", "install").output.contains("\(key) stays: \(value)"))
        #expect(try repository.git("config", key).output == "\(value)\n")
        try repository.git("config", "--add", key, "other")
        #expect(try repository.godwit("git", "install").status == 0)
    }

    @Test func `the installation keeps a setting of the user's for all repositories`() throws {
        let own = "godwit merge-driver --policy /votes=sum %O %A %B -- %P"
        try repository.git("config", "--remove-section", "merge.godwit")
        try repository.git("config", "--global", "merge.godwit.driver", own)
        #expect(try repository.godwit("git", "install").output.contains("stays: \(own)"))
        #expect(try repository.git("config", "merge.godwit.driver").output == "\(own)\n")
    }

    @Test(arguments: ["nice godwit", "'/opt/mygodwit'"])
    func `the installation keeps a call through another program`(program: String) throws {
        let own = "\(program) textconv --"
        try repository.git("config", "diff.godwit.textconv", own)
        #expect(try repository.godwit("git", "install").output.contains("stays: \(own)"))
    }

    @Test func `the installation follows the program to another place`() throws {
        let installed = try repository.git("config", "diff.godwit.textconv").output
        try repository.git("config", "diff.godwit.textconv", "'/old place/godwit' textconv --")
        try repository.godwit("git", "install")
        #expect(try repository.git("config", "diff.godwit.textconv").output == installed)
    }

    @Test func `the installation for all repositories reads what the user's file includes`() throws
    {
        let chosen = repository.url("chosen-attributes").path
        try repository.write("[core]\n\tattributesFile = \(chosen)\n", to: "included")
        let included = repository.url("included").path
        try repository.git("config", "--global", "include.path", included)
        #expect(try repository.godwit("git", "install", "--global").status == 0)
        #expect(try repository.text("chosen-attributes").contains("*.json merge=godwit"))
    }

    @Test(arguments: ["!x.json", "#y", "[attr]z", "data/", "\"q"])
    func `the installation refuses a word that git takes for no pattern`(pattern: String) throws {
        let before = try repository.text(".gitattributes")
        #expect(try repository.godwit("git", "install", "--", pattern).status == 64)
        #expect(try repository.text(".gitattributes") == before)
    }

    @Test func `the installation writes nothing where the attributes cannot be read`() throws {
        let attributes = repository.url(".gitattributes")
        try FileManager.default.removeItem(at: attributes)
        try FileManager.default.createDirectory(at: attributes, withIntermediateDirectories: false)
        try repository.git("config", "--remove-section", "merge.godwit")
        #expect(try repository.godwit("git", "install").status == 1)
        #expect(try repository.git("config", "merge.godwit.driver").status == 1)
    }

    @Test func `the installation says what stands in its way`() throws {
        try repository.git("config", "--unset", "diff.godwit.textconv")
        try repository.write("", to: ".git/config.lock")
        let locked = try repository.godwit("git", "install")
        #expect(locked.status == 1 && locked.errors.contains("is it locked?"))
        let attributes = repository.url(".gitattributes")
        try FileManager.default.removeItem(at: attributes)
        try repository.write("*.txt text\n", to: "real")
        try FileManager.default.createSymbolicLink(
            atPath: attributes.path,
            withDestinationPath: "real"
        )
        let linked = try repository.godwit("git", "install")
        #expect(linked.status == 1 && linked.errors.contains("symbolic link"))
        #expect(try repository.text("real") == "*.txt text\n")
    }
}
