import Foundation

// What libFuzzer calls: <https://llvm.org/docs/LibFuzzer.html>. Its main function takes all
// arguments, so what else there is to say comes in the environment:
//
//   GODWIT_FUZZ_READER=json    which reader the inputs are for
//   GODWIT_FUZZ_SEEDS=FOLDER   write the seeds and words of all readers, and stop

private let environment = ProcessInfo.processInfo.environment
private let reader = environment["GODWIT_FUZZ_READER"].flatMap(Reader.init)

@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafePointer<CInt>, _ arguments: UnsafeRawPointer) -> CInt {
    do {
        if let folder = environment["GODWIT_FUZZ_SEEDS"] {
            for reader in Reader.allCases { try reader.writeSeeds(to: URL(filePath: folder)) }
            exit(0)
        }
    } catch {
        print("godwit-fuzz: \(error)")
        exit(1)
    }
    guard reader != nil else {
        print("godwit-fuzz: GODWIT_FUZZ_READER is none of \(Reader.allCases.map(\.rawValue))")
        exit(1)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try reader?.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        // Stops the program, because that is how libFuzzer learns of it.
        fatalError("\(error)")
    }
    return 0
}

extension Reader {
    fileprivate func writeSeeds(to folder: URL) throws {
        let own = folder.appending(path: rawValue)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        for (number, seed) in try seeds().enumerated() {
            try Data(seed).write(to: own.appending(path: "seed-\(number)"))
        }
        let lines = words.map { word in
            "\""
                + word.utf8.map { "\\x" + String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
                + "\"\n"
        }
        try Data(lines.joined().utf8).write(to: folder.appending(path: rawValue + ".words"))
    }
}
