import Foundation
import Godwit

struct Contact: Codable, Sendable {
    var firstName: String
}

/// Says which contact to upload; what it holds is read when the upload runs.
struct UploadContact: PushOperation {
    static let kind = "upload-contact"
    let contact: String
}

/// A contact book that uploads each contact as a file to a "cloud", which is a folder here.
@main
struct Outbox {
    static let contacts = Store.Collection<Contact>("contacts")

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "outbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let store = try Store(.file(folder.appending(path: "contacts.sqlite").path))
        let pipeline = Pipeline().on(UploadContact.self) { upload, _ in
            let contact = try await store.read { try $0.get(upload.contact, in: contacts) }
            let file = folder.appending(path: "\(upload.contact).json")
            try JSONEncoder().encode(contact).write(to: file)
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let running = Task { try await queue.run() }

        let commit = try await store.write { transaction in
            try transaction.set(Contact(firstName: "Robbie"), for: "robbie", in: contacts)
            try transaction.enqueue(UploadContact(contact: "robbie"))
            return transaction.commit
        }
        try await queue.finish(through: commit)
        running.cancel()

        let uploaded = try Data(contentsOf: folder.appending(path: "robbie.json"))
        print("uploaded \(String(decoding: uploaded, as: UTF8.self))")
        try store.close()
    }
}
