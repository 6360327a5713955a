import Godwit
import GodwitTestKit

/// One thing that somebody does to a cloud's folders.
enum TreeStep: Codable, Sendable {
    case put(String)
    case makeFolder(String)
    case move(String, to: String)
    case deleteTree(String)

    var footprint: Footprint {
        switch self {
        case .put(let path), .makeFolder(let path): .put(RemotePath(path))
        case .move(let path, let other): .move(RemotePath(path), to: RemotePath(other))
        case .deleteTree(let path): .deleteTree(RemotePath(path))
        }
    }
}

/// A cloud's folders, up to ten folders and ten files in each and four levels deep, and what
/// somebody does to them: mostly writing files, now and then making, moving and deleting folders.
///
/// Each step makes sense after those before it. The tree stays about as large as it is, however
/// many steps there are, so that later ones are no easier than earlier ones.
struct RemoteTree {
    private final class Folder {
        let name: String
        var folders: [Folder] = []
        var files: [String] = []

        init(name: String) { self.name = name }

        var hasRoom: Bool { folders.count < RemoteTree.foldersMax }
    }

    /// A folder and those that it lies in, from the root.
    private struct Place {
        var folders: [Folder]

        var folder: Folder { folders[folders.count - 1] }
        var depth: Int { folders.count - 1 }
        var path: String { folders.dropFirst().map { "/" + $0.name }.joined() }
        /// The folder that it lies in.
        var parent: Folder { folders[max(0, folders.count - 2)] }
    }

    private static let foldersMax = 10
    private static let filesMax = 10
    /// How deep folders lie; files lie one level deeper.
    private static let depthMax = 3

    private let root = Folder(name: "")
    private var random: Seeded
    private var nameCount = 0

    /// A tree that was in use for so long that it grows no more.
    init(seed: UInt64) {
        random = Seeded(seed: seed)
        for _ in 0..<50_000 { _ = nextStep() }
    }

    mutating func nextStep() -> TreeStep {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<15: makeFolder() ?? put()
        case 15..<30: move() ?? put()
        case 30..<33: deleteTree() ?? put()
        default: put()
        }
    }
}

// MARK: - Steps

extension RemoteTree {
    /// Writes a file: a new one, or one that is there.
    private mutating func put() -> TreeStep {
        let place = walk(isLong: false)
        let isNew = place.folder.files.count < Self.filesMax && random.happens(0.5)
        if isNew || place.folder.files.isEmpty { place.folder.files.append(newName()) }
        let index =
            isNew
            ? place.folder.files.count - 1
            : Int.random(in: place.folder.files.indices, using: &random)
        return .put(place.path + "/" + place.folder.files[index])
    }

    private mutating func makeFolder() -> TreeStep? {
        let place = walk(isLong: false)
        guard place.depth < Self.depthMax, place.folder.hasRoom else { return nil }
        let folder = Folder(name: newName())
        place.folder.folders.append(folder)
        return .makeFolder(place.path + "/" + folder.name)
    }

    /// Moves a folder that has none in it, with its files.
    private mutating func move() -> TreeStep? {
        let (place, target) = (walk(isLong: true), walk(isLong: false))
        let folder = place.folder
        guard place.depth > 0, folder.folders.isEmpty, target.depth < Self.depthMax,
            target.folder !== folder, target.folder !== place.parent, target.folder.hasRoom
        else { return nil }
        place.parent.folders.removeAll { $0 === folder }
        target.folder.folders.append(folder)
        return .move(place.path, to: target.path + "/" + folder.name)
    }

    /// Deletes a folder: mostly one without others in it, now and then a large one.
    private mutating func deleteTree() -> TreeStep? {
        var place = walk(isLong: true)
        if place.depth > 1, random.happens(0.05) { place.folders.removeLast() }
        guard place.depth > 0 else { return nil }
        place.parent.folders.removeAll { $0 === place.folder }
        return .deleteTree(place.path)
    }

    /// Goes down from the root, to the end or as far as chance has it.
    private mutating func walk(isLong: Bool) -> Place {
        var place = Place(folders: [root])
        while !place.folder.folders.isEmpty, isLong || random.happens(0.8) {
            let index = Int.random(in: place.folder.folders.indices, using: &random)
            place.folders.append(place.folder.folders[index])
        }
        return place
    }

    private mutating func newName() -> String {
        nameCount += 1
        return "item-\(nameCount)"
    }
}
