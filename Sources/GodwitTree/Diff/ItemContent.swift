/// An item, compared and hashed by its digest where it is a container.
struct ItemContent: Hashable {
    private enum Kind: Hashable {
        case scalar(Value)
        case container(ContentDigest)
    }

    private let kind: Kind

    init(_ value: Value) {
        switch value {
        case .list, .map: kind = .container(value.digest)
        default: kind = .scalar(value)
        }
    }
}
