package import Foundation

/// A program of this package, beside the tests that were built with it.
package enum BuiltProgram {
    package static func url(_ name: String) -> URL { folder.appending(path: name) }

    private static let folder: URL = {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let bundle = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") } ?? own.path
        return URL(filePath: bundle).deletingLastPathComponent()
    }()
}
