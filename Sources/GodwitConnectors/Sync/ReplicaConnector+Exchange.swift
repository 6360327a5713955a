internal import GodwitQueue
internal import GodwitReplication
internal import GodwitStore
internal import Synchronization

// How a connector exchanges with its server, and follows it.

extension ReplicaConnector {
    /// How many requests of one replica may follow each other before it waits.
    private static let requestMax = 1 << 16

    /// Performs a push: exchanges until nothing is left to send.
    func push(_ name: String) async throws -> Outcome {
        let name = try ReplicaName(name)
        guard let link = links.withLock({ $0[name] }) else {
            let server = options.server
            let isThere = try await store.read { try Replica.exists(name, server: server, in: $0) }
            guard isThere else { return .skipped(reason: "the replica was left") }
            return .retry(after: .seconds(5), reason: PushReplica.isNotOpen(name))
        }
        let isDone: Bool
        do {
            isDone = try await exchangeAll(link, .push(isFirst: true))
        } catch ConnectorError.busy(let wait, let message) {
            return .retry(after: options.backoff.delay(asked: wait), reason: message)
        }
        if link.isClosed { return .retry(after: .seconds(5), reason: "the replica was closed") }
        return isDone ? .completed : .retry(reason: "the server did not take the changes")
    }

    func synchronize(_ link: ReplicaLink) async throws {
        guard try await exchangeAll(link, .synchronize) else {
            throw ConnectorError.malformedAnswer(reason: "the server does not come to an end")
        }
    }

    /// Why a request is made.
    private enum Purpose {
        /// To adopt what is new on the server, and to send what waits.
        case synchronize
        /// To send what waits, if anything does; the first one tries again what was held back, too.
        case push(isFirst: Bool)
    }

    /// Exchanges until nothing is left to send or to adopt.
    ///
    /// - Returns: Whether that was so before the last request that it makes.
    private func exchangeAll(_ link: ReplicaLink, _ first: Purpose) async throws -> Bool {
        var (idleCount, purpose) = (0, first)
        for _ in 0..<Self.requestMax {
            let step = try await link.gate.pass { [self, purpose] in
                try await exchange(link, purpose)
            }
            if case .push = purpose { purpose = .push(isFirst: false) }
            switch step {
            case .done: return true
            case .moved: idleCount = 0
            case .idle: idleCount += 1
            }
            try await letOthersPass(idleCount)
        }
        return false
    }

    /// Waits for a moment of random length if requests lead nowhere: where another process exchanges
    /// too, each drops the answers of which the requests were made before the other's.
    private func letOthersPass(_ idleCount: Int) async throws {
        guard store.options.processes == .several, idleCount > 2 else { return }
        try await options.clock.sleep(for: options.backoff.delay(attempts: idleCount - 2))
    }

    func enqueueIfDirty(_ link: ReplicaLink) async throws {
        try await store.write { transaction in
            if try link.replica.isDirty(in: transaction) {
                try link.pushes.enqueue(in: transaction)
            }
        }
    }

    /// Enqueues pushes of changes that other processes have made.
    func followOthers() async throws {
        let changes = store.changes()
        // The store does not announce earlier commits again.
        for link in links.withLock(\.all) { try await enqueueAtLast(link) }
        for await change in changes where change.isFromElsewhere {
            for link in links.withLock(\.all) { try await enqueueAtLast(link) }
        }
    }

    /// Enqueues a push, and tries again while the disk fails: the store announces a commit once.
    private func enqueueAtLast(_ link: ReplicaLink) async throws {
        var attempts = 0
        while !link.isClosed {
            do {
                // Another process may have left the replica.
                _ = try await link.replica.base()
                return try await enqueueIfDirty(link)
            } catch let error as CancellationError {
                throw error
            } catch let error as StoreError where error.endsWriting {
                throw error
            } catch {
                failed(link, error)
                attempts += 1
                try await options.clock.sleep(for: options.backoff.delay(attempts: attempts))
            }
        }
    }

    /// Where one request has led.
    private enum Step {
        case done
        /// Another request has to follow, and this one has had a use.
        case moved
        /// Another one has to follow.
        case idle
    }

    /// One request and its answer.
    private func exchange(_ link: ReplicaLink, _ purpose: Purpose) async throws -> Step {
        let replica = link.replica
        let start = store.options.clock.elapsed()
        var sent: ReplicaRequest?
        do {
            guard !link.isClosed, let request = try await request(of: link, purpose) else {
                return .done
            }
            sent = request
            let message = request.bytes
            report(
                .sending(
                    replica.name,
                    sizeInBytes: message.count,
                    carriesChanges: request.carriesChanges
                )
            )
            let answer = try await link.exchanging { [transport] in
                try await transport.exchange(
                    message,
                    replica: replica.name,
                    client: request.client
                )
            }
            let time = store.options.clock.elapsed() - start
            let result = try await receive(answer, to: request, link)
            let wasFull = request.carriesChanges && result.isBehind
            link.pieceSize.withLock { size in
                size.noteAnswer(after: time, of: message.count + answer.count, wasFull: wasFull)
            }
            report(.adopted(replica.name, base: result.base))
            links.withLock { $0.takeBack(link) }
            link.status.update { status in
                status.lastError = nil
                status.download = result.download
                if !result.isBehind { status.lastSynced = store.options.clock.now() }
            }
            if !result.isBehind { return .done }
            return result.base != result.old || request.isStep ? .moved : .idle
        } catch let error as CancellationError {
            if link.isGivenUp, !Task.isCancelled { throw Self.givenUp }
            throw error
        } catch {
            return try await next(
                of: link,
                after: error,
                in: store.options.clock.elapsed() - start,
                sent
            )
        }
    }

    private static let givenUp = ConnectorError.interrupted(
        reason: "the app gives up what it would bring"
    )

    /// What follows a request that has failed: the error, unless something else can be done.
    private func next(
        of link: ReplicaLink,
        after error: any Error,
        in time: Duration,
        _ sent: ReplicaRequest?
    ) async throws -> Step {
        if link.isClosed { return .done }
        if link.isGivenUp { throw Self.givenUp }
        let mustFollow = Self.isReadOnly(error) && sent?.carriesRecordsOnly == true
        if !mustFollow { failed(link, error) }
        guard mustCompare(link, after: error, in: time, sent) else { throw error }
        let replica = link.replica
        let lone = sent?.batchCount == 1 ? sent : nil
        let (isTooLarge, isCut) = (Self.isTooLarge(error), Self.isInterrupted(error))
        let denied = Self.isReadOnly(error) ? sent : nil
        try await store.write { transaction in
            if let denied {
                try replica.deny(denied, in: transaction)
            } else if let lone, isTooLarge {
                try replica.keepTooLarge(lone, in: transaction)
            } else if let sent, isTooLarge, sent.givesBackOne {
                try replica.withhold(sent, in: transaction)
            } else if let lone, isCut {
                // Alone, it is tried again as it is.
                guard try replica.postpone(lone, in: transaction) else { return }
            }
            try replica.distrust(in: transaction)
        }
        link.status.update { $0.download = nil }
        // A user has changed nothing: the app's rules for merges stay here.
        if mustFollow { return .idle }
        throw error
    }
}

extension ReplicaConnector {
    /// Whether a request has failed so that only a comparison of objects leads on.
    ///
    /// That ends a batch, too, which would be sent in the same words until it gets through: one that is
    /// too large for the connection, or for a proxy, is cut into smaller ones, and a single object that
    /// is too large holds up no others.
    private func mustCompare(
        _ link: ReplicaLink,
        after error: any Error,
        in time: Duration,
        _ request: ReplicaRequest?
    ) -> Bool {
        let (size, count) = (request?.bytes.count ?? 0, request?.batchCount ?? 0)
        switch error {
        case ReplicationError.wrongContent: return true
        // An answer has more than this device can take at once.
        case ReplicationError.overBudget: return request.map { !$0.isComparison } ?? false
        case ConnectorError.interrupted:
            let upload = request?.carriesChanges == true ? size : nil
            let isTooLarge = link.pieceSize.withLock {
                $0.noteInterruption(after: time, of: upload)
            }
            return isTooLarge && count > 0
        // It follows without its changes.
        case _ where Self.isReadOnly(error): return count > 0
        case _ where Self.isTooLarge(error):
            link.pieceSize.withLock { $0.noteRefusal(of: size) }
            return count > 0 || request?.givesBackOne == true
        default: return false
        }
    }

    /// RFC 9110, section 15.5.14.
    private static func isTooLarge(_ error: any Error) -> Bool {
        if case ConnectorError.refused(status: 413, _, _) = error { true } else { false }
    }

    private static func isReadOnly(_ error: any Error) -> Bool {
        if case ConnectorError.refused(_, code: "readOnly", _) = error { true } else { false }
    }

    private static func isInterrupted(_ error: any Error) -> Bool {
        if case ConnectorError.interrupted = error { true } else { false }
    }

    /// The next request, if there has to be one.
    private func request(
        of link: ReplicaLink,
        _ purpose: Purpose
    ) async throws -> ReplicaRequest? {
        let (replica, sizeMax) = (link.replica, link.pieceSize.withLock(\.value))
        func next() async throws -> ReplicaRequest? {
            try await store.write { transaction in
                if case .push(let isFirst) = purpose {
                    if isFirst { try replica.releaseHeld(in: transaction) }
                    guard try replica.needsRequest(in: transaction) else { return nil }
                }
                return try replica.nextRequest(sizeMax: sizeMax, in: transaction)
            }
        }
        do {
            do {
                return try await next()
            } catch let error where Replica.isRefusal(error) {
                try await replica.mergeEditsOfRefused()
                return try await next()
            }
        } catch let error as HookRefusal {
            throw error.error
        }
    }

    /// Where an answer has led.
    private struct Receipt {
        let isBehind: Bool
        let old: LineState
        let base: LineState
        let download: DownloadProgress?
    }

    /// Takes an answer in; objects that a hook of the app refuses stay beside the store.
    private func receive(
        _ answer: [UInt8],
        to request: ReplicaRequest,
        _ link: ReplicaLink
    ) async throws -> Receipt {
        let replica = link.replica
        func receive(_ arrivals: Replica.Arrivals) async throws -> Receipt {
            try await store.write { transaction in
                let old = try replica.base(in: transaction)
                let isBehind = try replica.receive(answer, to: request, arrivals, in: transaction)
                return Receipt(
                    isBehind: isBehind,
                    old: old,
                    base: try replica.base(in: transaction),
                    download: try replica.download(in: transaction)
                )
            }
        }
        do {
            do {
                return try await receive(.taken)
            } catch let error where Replica.isRefusal(error) {
                let result = try await receive(.heldBack)
                // If that fails, the objects stay beside the store, and the next round tries again.
                try await replica.retryRefused()
                return result
            }
        } catch let error as HookRefusal {
            throw error.error
        }
    }
}

// MARK: - Following

extension ReplicaConnector {
    /// Adopts each new head, and connects again when the connection ends.
    func follow(_ link: ReplicaLink) async throws {
        var attempts = 0
        defer { link.status.update { $0.isConnected = false } }
        while true {
            var wait = Duration.zero
            do {
                try await link.replica.retryRefused()
                for try await head in transport.heads(of: link.replica.name) {
                    link.status.update { $0.isConnected = true }
                    var isBehind = try await head != link.replica.base()
                    // Where the network comes back, a push may wait for its next attempt.
                    if !isBehind, attempts > 0 { isBehind = try await link.replica.isDirty() }
                    if isBehind {
                        try await synchronize(link)
                    } else {
                        // Another process may have ended the download.
                        link.status.update { $0.download = nil }
                    }
                    attempts = 0
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                failed(link, error)
                if link.isClosed { return }
                if Self.isFinal(error) { throw error }
                if case ConnectorError.busy(let asked, _) = error {
                    wait = options.backoff.delay(asked: asked)
                }
            }
            link.status.update { $0.isConnected = false }
            try Task.checkCancellation()
            attempts += 1
            let delay = options.backoff.delay(attempts: attempts)
            try await options.clock.sleep(for: max(wait, delay))
        }
    }
}

extension ReplicaConnector {
    private func failed(_ link: ReplicaLink, _ error: any Error) {
        if link.isClosed { return }
        // The app, or another process, has taken the replica out of the store.
        if case ReplicationError.unknownReplica = error { return link.replica.close() }
        report(.failed(link.replica.name, error))
        link.status.update { $0.lastError = error }
    }

    /// Whether the server does not have a replica, or does not let this device read it.
    static func isUnknown(_ error: any Error) -> Bool {
        if case ConnectorError.refused(_, code: "unknownReplica", _) = error { true } else { false }
    }

    /// Whether trying again does not help.
    private static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case ReplicationError.senderIsOlder, ReplicationError.senderIsNewer: true
        case let error as StoreError: error.endsWriting
        case ConnectorError.refused(_, let code, _):
            // A token stays what it is; a right may be granted while the device tries again.
            [
                "unknownReplica", "upgradeClient", "upgradeServer",
                "tokenRequired", "tokenExpired", "tokenInvalid",
            ].contains(code)
        default: false
        }
    }
}
