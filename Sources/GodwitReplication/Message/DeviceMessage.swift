/// What a device asks its server.
enum DeviceRequest: Hashable, Sendable {
    case exchange(LineRequest)
    case recovery(RecoveryRequest)
    case comparison(with: LineState, [SpanSum])
    case restoration(RestorationRequest)
}

/// What the server answers.
enum DeviceAnswer: Hashable, Sendable {
    case exchange(SlotAnswer)
    case recovery(RecoveryAnswer)
    /// nil when the server does not have the state any more.
    case comparison([SpanAnswer]?)
    case restoration(SlotAnswer)
}
