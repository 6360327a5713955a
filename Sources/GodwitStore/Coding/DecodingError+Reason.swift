extension DecodingError {
    /// What does not fit, and where: `items.0.price: there is a string`.
    package var reason: String {
        let context: Context? =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .keyNotFound(_, let context), .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        guard let context else { return String(describing: self) }
        var path = context.codingPath
        if case .keyNotFound(let key, _) = self { path.append(key) }
        guard !path.isEmpty else { return context.debugDescription }
        return path.map(\.stringValue).joined(separator: ".") + ": " + context.debugDescription
    }
}
