import Foundation

/// What an answer means. That is recorded before the item is removed, so that a kill between the two only repeats the
/// request.

private let keptDays = 30.0

/// The parts of an answer that count.
private struct Reply {
    let status: Int
    let code: String?
    let retryAfter: Double?
    let fields: [String: Any]

    init(_ answer: Answer?) {
        status = answer?.status ?? 0
        fields = answer.map { Json.fields($0.body) } ?? [:]
        code = fields["code"] as? String
        retryAfter = retryAfterMs(answer?.retryAfter)
    }

    var text: String {
        if status == 0 { return "no connection" }
        return code.map { "\(status) \($0)" } ?? String(status)
    }

    /// The paths of the fields that the server refused.
    var paths: [String] {
        (fields["errors"] as? [[String: Any]] ?? []).map { $0["path"] as? String ?? "" }
    }

    /// Whether it accepts this call, in our words.
    func accepts(_ item: Item) -> Bool {
        guard (200..<300).contains(status), fields["appUserId"] as? String == item.user else { return false }
        guard let sale = item.purchase else { return fields["bundleId"] as? String == item.bundleId }
        return fields["originalTransactionId"] as? String == sale.id
    }
}

/// Whether a status counts like a lost connection. 0: there is no answer.
func isLate(_ status: Int) -> Bool { status == 0 || status == 408 || status == 429 || status >= 500 }

extension Engine {
    /// Records what an answer means, and removes the item if it is done. `isDevice`: the call had a device token.
    func settle(_ name: String, _ answer: Answer?, _ isDevice: Bool) {
        guard let item = entries.first(where: { $0.name == name })?.item else { return }
        let reply = Reply(answer)
        let lane = item.lane
        lastAnswer = reply.text
        debug("\(item.call.rawValue) for \(item.user): \(reply.text)")
        let softTries = soft.removeValue(forKey: lane)?.tries ?? 0
        if isLate(reply.status), reply.retryAfter == nil {
            let wait = Wait(jitter(environment.random(), softTries, softMs), from: now)
            soft[lane] = State.Kept(wait: wait, tries: softTries + 1)
            return
        }
        state.prune(now)
        let before = state.waits.removeValue(forKey: lane)
        var isDone = true
        if isLate(reply.status), let asked = reply.retryAfter {
            let wait = Wait(asked + environment.random() * 1000, from: now)
            state.waits[lane] = State.Kept(
                wait: wait, tries: before?.tries ?? 0, sequence: before?.sequence, since: before?.since)
            isDone = false
        } else if reply.accepts(item) {
            accept(item)
        } else {
            isDone = refuse(name, item, before, reply)
        }
        saveState()
        if isDone { remove(name) }
        if isDevice, isUnknownDevice(reply) { enrolAgain() }
    }

    /// Whether the server does not know the token of the call.
    private func isUnknownDevice(_ reply: Reply) -> Bool {
        if reply.status == 401 { return reply.code == "invalid_key" }
        return reply.status < 300 && reply.fields["verification"] as? String == "unverified"
    }

    private func accept(_ item: Item) {
        if let sale = item.purchase {
            state.acceptPurchase(sale, user: item.user)
        } else if item.user == state.current {
            let before = state.accepted
            let isSame = before?.user == item.user && before?.lane == item.lane
            state.accepted = isSame ? before?.joined(with: item) : item
        }
    }

    /// A refusal counts by its `code`, not by its status; without one it is not ours. Returns whether the item is done.
    private func refuse(_ name: String, _ item: Item, _ before: State.Kept?, _ reply: Reply) -> Bool {
        guard let code = reply.code else { return keep(name, item, before, "not_windfall") }
        if code == "invalid_signed_transaction", item.purchase?.jws != nil { return dropProof(name, item) }
        if code != "invalid_request", ![410, 413, 422].contains(reply.status) {
            return keep(name, item, before, code)
        }
        if dropAttributes(name, item, reply.paths) { return false }
        lose(item, code)
        return true
    }

    /// Backs off to a day; returns true to give up, 30 days after the first such answer.
    private func keep(_ name: String, _ item: Item, _ before: State.Kept?, _ code: String) -> Bool {
        let sequence = Entry(name: name, item: item, bytes: 0).sequence
        let isSame = before?.sequence == sequence
        let since = min(now, isSame ? before?.since ?? now : now)
        let tries = isSame ? before?.tries ?? 0 : 0
        // Attributes that joined later have their own 30 days.
        if now - max(since, min(now, item.at)) >= keptDays * dayMs {
            lose(item, code)
            return true
        }
        let wait = Wait(jitter(environment.random(), tries, dayMs), from: now)
        state.waits[item.lane] = State.Kept(
            wait: wait, tries: tries + 1, sequence: sequence, since: since)
        return false
    }

    /// The item is sent once more without its proof. It changes in memory only: after a kill the proof is refused again.
    private func dropProof(_ name: String, _ item: Item) -> Bool {
        let newest = entries.last { $0.item.purchase?.id == item.purchase?.id && $0.item.isRetry != true }
        state.refuseProof(item, newest: newest?.item, at: now)
        replace(name, item.withoutProof())
        return item.isRetry == true
    }

    /// Leaves out the attributes that the server named, or the last if it named none, likewise in memory.
    private func dropAttributes(_ name: String, _ item: Item, _ paths: [String]) -> Bool {
        let given = sorted((item.attributes ?? [:]).keys)
        if given.isEmpty || paths.isEmpty || !paths.allSatisfy({ $0.hasPrefix("attributes") }) { return false }
        let named = given.filter { paths.contains("attributes.\($0)") }
        var left = item.attributes ?? [:]
        for attribute in named.isEmpty ? [given[given.count - 1]] : named {
            debug("attribute \(attribute) was refused and left out")
            left[attribute] = nil
        }
        replace(name, item.with(attributes: left))
        return true
    }

    private func replace(_ name: String, _ item: Item) {
        guard let at = entries.firstIndex(where: { $0.name == name }) else { return }
        entries[at].item = item
    }
}
