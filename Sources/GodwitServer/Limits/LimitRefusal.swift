#if Server
internal import HTTPTypes
internal import Hummingbird

/// Why a request is beyond a limit.
enum LimitRefusal: Error, Hashable {
    case tooManyRequests(retryAfter: Duration)
    /// The principal, or all principals together, have too many bytes under way.
    case tooManyBytes
    case tooManyStreams
    /// The request has more bytes than any may have.
    case tooLarge
}

extension LimitRefusal {
    var response: Response {
        switch self {
        case .tooManyRequests(let wait):
            busy("tooManyRequests", "too many requests: wait, and ask again", wait)
        case .tooManyBytes:
            busy("tooManyBytes", "the server has too much to read at the moment", .seconds(1))
        case .tooLarge:
            Response(
                refusing: .contentTooLarge,
                code: "tooLarge",
                message: "a request has at most 64 MiB: send smaller ones"
            )
        case .tooManyStreams:
            busy("tooManyStreams", "too many open streams of events: close one", .seconds(30))
        }
    }

    private func busy(_ code: String, _ message: String, _ wait: Duration) -> Response {
        var response = Response(refusing: .tooManyRequests, code: code, message: message)
        // RFC 9110, section 10.2.3: whole seconds.
        let seconds = max(1, Int64((wait / .seconds(1)).rounded(.up)))
        response.headers[.retryAfter] = "\(seconds)"
        return response
    }
}
#endif
