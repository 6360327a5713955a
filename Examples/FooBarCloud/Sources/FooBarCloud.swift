import Foundation
import Godwit

/// A cloud of files with ETags: the last imaginary cloud service that this app will ever need.
actor FooBarCloud {
    struct Answer: Sendable {
        let status: Int
        let tag: String
    }

    private var files: [String: (body: Data, version: Int)] = [:]
    private var answers: [String: Answer] = [:]

    func get(_ path: String) -> (body: Data, tag: String) {
        let file = files[path] ?? (Data(), 0)
        return (file.body, "\"v\(file.version)\"")
    }

    /// Takes a file if its tag is still the newest; the same key is answered as before, and not done twice.
    func put(_ path: String, _ body: Data, ifMatch tag: String?, key: String) -> Answer {
        if let answer = answers[key] { return answer }
        let newest = get(path).tag
        if let version = files[path]?.version, tag != "\"v\(version)\"" {
            return Answer(status: 412, tag: newest)
        }
        files[path] = (body, (files[path]?.version ?? 0) + 1)
        let answer = Answer(status: 200, tag: get(path).tag)
        answers[key] = answer
        return answer
    }
}

struct Contact: Codable, Equatable, Sendable {
    var firstName: String
    var phone: String?
}

/// Says which contact to upload; the contact itself is read when the operation runs.
struct UploadContact: PushOperation {
    static let kind = "upload-contact"
    let contact: String
    var path: String { "/contacts/\(contact).json" }
    var objects: [ObjectKey] { [contacts.place(contact)] }
}

/// An upload that only has a name.
struct Upload: PushOperation {
    static let kind = "upload"
    let name: String
}

let contacts = Store.Collection<Contact>("contacts")

extension Pipeline {
    /// The pipeline that talks to the cloud: for another cloud, only this function changes.
    static func uploads(from store: Store, to cloud: FooBarCloud) -> Pipeline {
        Pipeline(maxConcurrent: 1).on(UploadContact.self) { upload, run in
            let (contact, tag, change) = try await store.read { transaction in
                (
                    try transaction.get(upload.contact, in: contacts),
                    try transaction.tag(for: upload.path)?.text,
                    try transaction.recordedChanges(of: run.operation.id).first
                )
            }
            let (old, new) = (change?.old?.jsonText() ?? "{}", change?.new?.jsonText() ?? "{}")
            print("recorded: old \(old), new \(new)")
            // After a merge the same operation has another body, and is another request.
            let key = run.operation.idempotencyKey + (tag ?? "")
            let body = try JSONEncoder().encode(contact)
            let answer = await cloud.put(upload.path, body, ifMatch: tag, key: key)
            print("PUT \(upload.path)  If-Match: \(tag ?? "-")  ->  \(answer.status)")
            switch answer.status {
            case 200:
                return .completed { try $0.setTag(answer.tag, for: upload.path) }
            case 412:
                let newest = await cloud.get(upload.path)
                let theirs = try JSONDecoder().decode(Contact.self, from: newest.body)
                let value = try await store.read {
                    try $0.value(of: theirs, for: upload.contact, in: contacts)
                }
                let tag = CloudTag(newest.tag, for: upload.path)
                return .conflict(theirs: value, tag: tag, reason: "the cloud has another version")
            default:
                return .retry(reason: "the cloud says \(answer.status)")
            }
        }
    }
}
