import Foundation

/// Sends what is queued, one request at a time.

/// Half a day more than seven, because the last try may be late.
private let retryDays = 7.5

enum Next {
    case send(Entry)
    /// Milliseconds until there may be more to send.
    case wait(Double)
}

extension Engine {
    /// The next item to send. A destination whose first item has to wait waits as a whole.
    func pick() -> Next {
        // What comes back after a kill would be sent out of order.
        if retryWrites() { return .wait(jitter(environment.random(), 5, softMs)) }
        state.prune(now)
        var soonest = retryProofs()
        var seen: Set<String> = []
        for entry in entries {
            let lane = entry.item.lane
            if !seen.insert(lane).inserted || (enrolment.isHolding && lane == target?.lane) { continue }
            let left = max(state.waits[lane]?.wait.left(now) ?? 0, soft[lane]?.wait.left(now) ?? 0)
            if left == 0 { return .send(entry) }
            soonest = min(soonest, left)
        }
        return .wait(soonest)
    }

    /// Queues the refused proofs that are due. Returns the milliseconds until the next one.
    private func retryProofs() -> Double {
        let now = now
        var soonest = Double.infinity
        state.refusedProofs = state.refusedProofs.filter {
            $0.wait.left(now) > 0 || now - min(now, $0.at) <= retryDays * dayMs
        }
        for index in state.refusedProofs.indices {
            let left = state.refusedProofs[index].wait.left(now)
            soonest = min(soonest, left > 0 ? left : dayMs)
            if left > 0 { continue }
            state.refusedProofs[index].wait = Wait(dayMs, from: now)
            // The date first: a kill between the two costs one try, not two tries a day.
            saveState()
            add(state.refusedProofs[index].item.asRetry())
        }
        return soonest
    }

    func send(_ entry: Entry) {
        inFlight = entry.name
        let path = "/api/sdk/v1/\(entry.item.call.rawValue)"
        let body = Json.data(Body(item: entry.item))
        authorise(entry.item, path, body) { [unowned self] headers, isDevice in
            let request = Request(url: entry.item.url + path, headers: headers, body: body)
            ask(.post(request), or: .answer(nil)) { [unowned self] outcome in
                guard case .answer(let answer) = outcome else { return }
                settle(entry.name, answer, isDevice)
                inFlight = nil
                pump()
            }
        }
    }

    /// Calls `then` with the headers of a call, and whether they have a device token.
    private func authorise(
        _ item: Item, _ path: String, _ body: Data, _ then: @escaping ([String: String], Bool) -> Void
    ) {
        var headers = ["content-type": "application/json"]
        guard let (keyId, token) = deviceToken(for: item) else {
            headers["x-windfall-unattested"] = unattestedReason(for: item)
            if let key = item.lane == target?.lane ? target?.key : item.key {
                headers["authorization"] = "Bearer \(key)"
            }
            return then(headers, false)
        }
        headers["authorization"] = "Bearer \(token)"
        let hash = sha256(utf8("POST\n\(path)\n") + body)
        ask(.assert(keyId: keyId, hash: hash), or: .signed(.failure(.unavailable))) { [unowned self] outcome in
            guard case .signed(let signed) = outcome else { return }
            if case .failure(.invalidKey) = signed {
                replaceKey()
                inFlight = nil
                return pump()
            }
            // Whether a call without an assertion is accepted is the server's choice.
            if case .success(let assertion) = signed {
                headers["x-windfall-assertion"] = assertion.base64EncodedString()
            }
            then(headers, true)
        }
    }
}

/// The body of a call, by the server's names.
private struct Body: Encodable {
    let item: Item

    private enum Name: String, CodingKey {
        case appUserId, bundleId, platform, osVersion, deviceModel, locale, attributes, originalTransactionId, productId
        case jws
    }

    func encode(to encoder: Encoder) throws {
        var body = encoder.container(keyedBy: Name.self)
        func put(_ text: String?, _ name: Name) throws { try body.encodeIfPresent(text, forKey: name) }
        try put(item.user, .appUserId)
        try put(item.bundleId, .bundleId)
        try put(item.device?.platform ?? item.purchase?.platform, .platform)
        try put(item.device?.osVersion, .osVersion)
        try put(item.device?.deviceModel, .deviceModel)
        try put(item.device?.locale, .locale)
        try put(item.purchase?.id, .originalTransactionId)
        try put(item.purchase?.productId, .productId)
        try put(item.purchase?.jws, .jws)
        if let attributes = item.attributes, !attributes.isEmpty { try body.encode(attributes, forKey: .attributes) }
    }
}
