/// What is stored beside the queue, as one text: what changes together is one write, which a kill cuts before or after. An
/// intention (`pending`) is stored with the change of user, and what follows from it is queued again after a kill.
final class State: Codable {
    /// An accepted purchase.
    struct Known: Codable {
        var id: String
        /// Whether a known user ever had it.
        var isKnown: Bool
        /// The last user.
        var user: String
        var transaction: String
    }

    /// A purchase that was refused with `code` at `at`, or whose proof was refused first then and is tried again.
    struct Refused: Codable {
        var item: Item
        let at: Double
        var code = ""
        var wait = Wait(0, from: 0)
    }

    /// Why a destination has to wait: after lost connections, or since an item was kept.
    struct Kept: Codable {
        var wait: Wait
        var tries = 0
        var sequence: String?
        var since: Double?
    }

    var anonymousId: String
    var user: String?
    /// Attributes and purchases that were reported under the anonymous id.
    var attributes: Attributes = [:]
    var purchases: [Sale] = []
    /// What is to be queued for the user, because who it is changed.
    var pending: [Item] = []
    /// The accepted identify calls of the last user, summed up.
    var accepted: Item?
    var known: [Known] = []
    var refused: [Refused] = []
    var refusedProofs: [Refused] = []
    var waits: [String: Kept] = [:]

    init(anonymousId: String) { self.anonymousId = anonymousId }

    /// Another version may have stored fewer fields.
    init(from decoder: Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        anonymousId = try stored.decode(String.self, forKey: .anonymousId)
        user = try? stored.decode(String.self, forKey: .user)
        attributes = (try? stored.decode(Attributes.self, forKey: .attributes)) ?? [:]
        purchases = (try? stored.decode([Sale].self, forKey: .purchases)) ?? []
        pending = (try? stored.decode([Item].self, forKey: .pending)) ?? []
        accepted = try? stored.decode(Item.self, forKey: .accepted)
        known = (try? stored.decode([Known].self, forKey: .known)) ?? []
        refused = (try? stored.decode([Refused].self, forKey: .refused)) ?? []
        refusedProofs = (try? stored.decode([Refused].self, forKey: .refusedProofs)) ?? []
        waits = (try? stored.decode([String: Kept].self, forKey: .waits)) ?? [:]
    }

    /// The id that calls are made under now.
    var current: String { user ?? anonymousId }
}

private let mostProofs = 20
private let proofDays = 90.0
private let mostKnown = 500
private let mostRefused = 100
let refusedDays = 30.0

extension State {
    /// Drops what is too old or too much.
    func prune(_ now: Double) {
        refused = refused.filter { now - $0.at <= refusedDays * dayMs }
        var proofs = 0
        for index in purchases.indices.reversed() {
            let at = min(purchases[index].at ?? now, now)
            let isProof = purchases[index].hasProof
            purchases[index].at = at
            if isProof { proofs += 1 }
            if proofs > mostProofs || !isProof || now - at > proofDays * dayMs { purchases[index].jws = nil }
        }
    }

    /// Keeps what identify will report again. A proof that comes again does not get younger.
    func keepReported(_ sale: Sale, _ now: Double) {
        let before = purchases.first { $0.id == sale.id }
        var kept = sale
        if !sale.hasProof { kept.jws = before?.jws }
        kept.at = now
        if let before, before.jws == kept.jws { kept.at = before.at }
        purchases = purchases.filter { $0.id != sale.id }
        purchases.append(kept)
    }

    /// A new report of a purchase: the refused proof follows its user, or gives way to a new proof.
    func followReport(_ item: Item) {
        guard let sale = item.purchase else { return }
        if sale.jws != nil { refusedProofs = refusedProofs.filter { $0.item.purchase?.id != sale.id } }
        for index in refusedProofs.indices where refusedProofs[index].item.purchase?.id == sale.id {
            refusedProofs[index].item = refusedProofs[index].item.followed(by: item)
        }
    }

    /// A proof was refused: it is tried again tomorrow, for the user of `newest`, the last report of that purchase.
    func refuseProof(_ item: Item, newest: Item?, at now: Double) {
        guard item.isRetry != true, item.purchase?.hasProof == true else { return }
        if newest?.purchase?.jws != nil, newest?.user != item.user { return }
        let next = newest.map(item.followed) ?? item
        refusedProofs.append(Refused(item: next, at: now, wait: Wait(dayMs, from: now)))
        refusedProofs = Array(refusedProofs.suffix(mostProofs))
    }

    func acceptPurchase(_ sale: Sale, user: String) {
        let wasKnown = known.contains { $0.id == sale.id && $0.isKnown }
        known = known.filter { $0.id != sale.id }
        known = Array(known.suffix(mostKnown - 1))
        known.append(
            Known(
                id: sale.id, isKnown: wasKnown || !isAnonymous(user), user: user, transaction: sale.transaction))
        if sale.jws != nil { refusedProofs = refusedProofs.filter { $0.item.purchase?.id != sale.id } }
    }

    /// Keeps a purchase that will not be sent again where the app can see it.
    func lose(_ item: Item, _ code: String, _ now: Double) {
        if item.purchase == nil || item.isRetry == true { return }
        refused.append(Refused(item: item.withoutProof(), at: now, code: code))
        refused = Array(refused.suffix(mostRefused))
    }
}
