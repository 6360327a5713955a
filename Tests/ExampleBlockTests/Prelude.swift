import Foundation
import GRDB
import Godwit
import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Observation

// What the blocks of the documentation use and do not declare: an app's types, its cloud, its screen.
// No block runs but the tests in testing.md, which use types and collections of it alone.

// MARK: - Objects

enum Presence: String, Codable, Hashable, Comparable, Sendable {
    case online, offline

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

struct Contact: Codable, Identifiable, Equatable, Sendable {
    struct Address: Codable, Equatable, Sendable { var city: String }

    var id = UUID()
    var name: String
    var city: String?
    var email: String?
    var address = Address(city: "")
    var born: Date
    var isOnline = false
    var isHidden = false
    var presence = Presence.offline
    var notes = ""
}

struct ContactV1: Codable, Sendable {
    var name: String
    var presence: String
}

struct ContactV2: Codable, Sendable {
    var name: String
    var isOnline: Bool
}

struct Person: Codable, Sendable {
    var first: String
    var last: String
}

struct Item: Codable, Identifiable, Sendable {
    var id = ""
    var name: String
    var crossed = false
    var isCrossed = false
}
struct Money { var cents: Int }
struct Message: Codable, Sendable { var date: Date }
struct Note: Codable, Sendable { var title: String }
struct Session: Sendable {
    func freshToken() async throws -> String { "" }
}
struct Order: Codable, Sendable {}
struct Groceries: Codable, Sendable {
    var title: String
    var items: [Item]
    var count: Int
    var note: String
    var votes: [String: Int]
}

struct Price: Codable {
    static var mergePolicy: MergePolicy { MergePolicy() }
}

struct Invoice: Codable, PersistableRecord, Sendable {
    let id: Int64
    var isPaid = false
    var cents = 0
}

struct EmptyName: Error {}

let contacts = Store.Collection<Contact>("contacts")
let items = Store.Collection<Item>("items")
let messages = Store.Collection<Message>("messages")
let typing = Store.Collection<Bool>("typing")
let notes = Store.Collection<Note>("notes")
let orders = Store.Collection<Order>("orders")
let customers = Store.Collection<Person>("customers")
let invoices = Store.Collection<Invoice>("invoices")
let open = invoices.where(\.isPaid, .equal(false))
let lists = Store.Collection<Groceries>("lists")
let openItems = items.where(\.isCrossed, .equal(false))

var robbie: Contact { Contact(name: "Robbie", born: .now) }
var edited: Contact { robbie }
var customer: Person { Person(first: "Ann", last: "Lee") }
var order: Order { Order() }
var draft: Note { Note(title: "") }
var invoice: Invoice { Invoice(id: 1) }
let (spring, summer, march, june) = (Date.now, Date.now, Date.now, Date.now)

let byPresence = Store.Index("byPresence", on: "presence")
let online = contacts.where(\.isOnline, .equal(true))
let query = online
let words = Store.Index.fullText("words", on: "title", "text")

// MARK: - Parts of an app

func some<Part>() -> Part { fatalError("no block runs") }

var store: Store { some() }
var pool: DatabasePool { some() }
var view: ReadView { some() }
var queue: PushQueue { some() }
var uploads: Pipeline { some() }
var session: Session { some() }
var transport: any ReplicaTransport { some() }
var connector: ReplicaConnector { some() }
var replica: Replica { some() }
var shopping: Replica { some() }
var folder: TemporaryFolder { some() }
var name: ReplicaName { some() }
var client: ClientID { some() }
var id: OperationID { some() }
var tag: CloudTag { some() }
var path: String { some() }
var address: String { some() }
var key: String { some() }
var message: [UInt8] { some() }
var body: [UInt8] { some() }
var answer: (body: Data, status: Int) { some() }
var base: Value { some() }
var ours: Value { some() }
var theirs: Value { some() }
var old: Value { some() }
var new: Value { some() }
var first: Delta { some() }
var second: Delta { some() }
var delta: Delta { some() }
nonisolated(unsafe) var value = Value.null
nonisolated(unsafe) var policy = MergePolicy()
nonisolated(unsafe) var source = YapDatabaseImport("")

func send(_ message: [UInt8], as client: ClientID) async throws -> [UInt8] { some() }
func edit(_ transaction: borrowing WriteTransaction) throws {}
func serve() async {}

// MARK: - Operations and a cloud

struct Upload: PushOperation { static let kind = "upload" }
struct UploadContact: PushOperation {
    static let kind = "upload-contact"
    let contact: String

    init(contact: String) { self.contact = contact }
    init(id: String) { contact = id }

    var id: String { contact }
}
struct DeleteContact: PushOperation {
    static let kind = "delete-contact"
    let id: String
}
struct UploadCustomer: PushOperation {
    static let kind = "upload-customer"
    let id: String
}
struct UploadOrder: PushOperation {
    static let kind = "upload-order"
    let id: String
}
struct UploadPhoto: PushOperation {
    static let kind = "upload-photo"
    var id = ""
    var scale = 1.0
}
struct UploadUser: PushOperation {
    static let kind = "upload-user"
    let id: String
}
struct UploadAvatar: PushOperation {
    static let kind = "upload-avatar"
    let user: String
}
struct Charge: PushOperation {
    static let kind = "charge"
    let account: String
}
struct SendInvoice: PushOperation {
    static let kind = "send-invoice"
    let id: Int64
}

struct Cloud {
    @discardableResult
    func put(_ contact: String, key: String = "") async throws -> String { some() }
    func put(_ contact: Contact?, ifMatch: Value?, key: String) async throws -> Value { some() }
    func putAll(_ uploads: [Upload]) async throws -> [(isStored: Bool, message: String)] { some() }
}

var cloud: Cloud { some() }

// MARK: - A screen

@MainActor protocol View {
    associatedtype Body
    var body: Body { get }
}
extension View {
    func environment<Value>(
        _ path: WritableKeyPath<EnvironmentValues, Value>,
        _ value: Value
    ) -> some View { self }
}
struct EnvironmentValues { var godwitStore: Store? }
@MainActor @propertyWrapper struct Live<Model: AnyObject> {
    init(id: some Hashable = 0, _ make: @escaping @MainActor (Store) -> Model) {}
    var wrappedValue: Model { some() }
}
struct Text: View {
    init(_ text: String) {}
    var body: some View { self }
}
struct List: View {
    init<Row: Identifiable>(
        _ rows: some RandomAccessCollection<Row>,
        row: (Row) -> some View
    ) {}
    var body: some View { self }
}
struct ForEach: View {
    init<Row: Identifiable>(
        _ rows: some RandomAccessCollection<Row>,
        row: (Row) -> some View
    ) {}
    var body: some View { self }
}
struct Section: View {
    init(_ title: String, rows: () -> some View) {}
    var body: some View { self }
}
struct Button: View {
    init(_ title: String, action: () -> Void) {}
    var body: some View { self }
}
struct Label { var text = "" }
struct Badge { func show(_ receipt: CommitReceipt) {} }
struct ProgressView { var progress = 0.0 }

@MainActor var (label, progressView) = (Label(), ProgressView())
var badge: Badge { some() }
@MainActor var model: (online: LiveQuery<Contact>, ()) { some() }

func show(_ shown: Any...) {}
func report(_ reported: Any...) {}
func animate(_ change: Any) {}
