/// What a device asks its server.
enum DeviceRequest: Hashable, Sendable {
    case exchange(LineRequest)
    case recovery(RecoveryRequest)
    case comparison(with: LineState, RangeRequest)
    case restoration(RestorationRequest)
}
