import Foundation

/// An item of the queue: a call with all that it needs to be sent. An item does not change; a changed one is another.
final class Item: Codable {
    enum Call: String, Codable {
        case identify, attribute
    }

    let call: Call
    /// User, address, bundle id and key when it was queued; a key of the options replaces the key.
    let user: String
    let url: String
    let bundleId: String
    private(set) var key: String?
    let at: Double
    let device: Device?
    private(set) var attributes: Attributes?
    private(set) var purchase: Sale?
    /// The daily try of a refused proof.
    private(set) var isRetry: Bool?

    private init(
        _ call: Call, _ user: String, _ target: Target, _ now: Double, _ device: Device?, _ attributes: Attributes?,
        _ purchase: Sale?
    ) {
        self.call = call
        self.user = user
        url = target.url
        bundleId = target.bundleId
        key = target.key
        at = now
        self.device = device
        self.attributes = attributes
        self.purchase = purchase
    }

    private init(copying item: Item) {
        call = item.call
        user = item.user
        url = item.url
        bundleId = item.bundleId
        key = item.key
        at = item.at
        device = item.device
        attributes = item.attributes
        purchase = item.purchase
        isRetry = item.isRetry
    }

    convenience init(identify user: String, _ target: Target, _ now: Double, _ attributes: Attributes) {
        self.init(.identify, user, target, now, target.device, attributes, nil)
    }

    convenience init(attribute user: String, _ target: Target, _ now: Double, _ purchase: Sale) {
        self.init(.attribute, user, target, now, nil, nil, purchase)
    }

    /// Items of one destination are sent in order; one that is refused does not hold up the others.
    var lane: String { "\(url) \(bundleId)" }

    func with(attributes: Attributes) -> Item {
        let item = Item(copying: self)
        item.attributes = attributes
        return item
    }

    func withoutProof() -> Item {
        let item = Item(copying: self)
        item.purchase?.jws = nil
        return item
    }

    func asRetry() -> Item {
        let item = Item(copying: self)
        item.isRetry = true
        return item
    }

    /// This identify call and a later one of the same user, as one.
    func joined(with later: Item) -> Item {
        let item = Item(copying: later)
        item.key = later.key ?? key
        item.attributes = merged(attributes, later.attributes)
        return item
    }

    /// This item as it goes on after a newer report of its purchase. What that lacks stays.
    func followed(by newer: Item) -> Item {
        let item = Item(copying: newer)
        item.key = newer.key ?? key
        item.purchase?.productId = newer.purchase?.productId ?? purchase?.productId
        item.purchase?.platform = newer.purchase?.platform ?? purchase?.platform
        item.purchase?.jws = newer.purchase?.jws ?? purchase?.jws
        return item
    }
}

/// What the queue keeps of a purchase.
struct Sale: Codable {
    /// The original transaction id.
    var id: String
    var productId: String?
    var jws: String?
    var platform: String?
    /// Tells transactions of one purchase apart, and those with a proof from those without.
    var transaction: String
    /// Of a purchase of the anonymous id: when its proof was reported first.
    var at: Double?

    /// A proof that may be kept.
    var hasProof: Bool { jws.map { $0.utf8.count <= 8000 } ?? false }
}

/// An item with its name in the storage, `q.<sequence>.<version>.<random>`.
struct Entry {
    let name: String
    var item: Item
    let bytes: Int

    /// What stays the same when an item changes.
    var sequence: String { String(name.dropFirst(2).prefix(12)) }
    var version: Int { Int(name.dropFirst(15).prefix(4)) ?? 0 }
}

extension Sale {
    /// Nil without an id. `device` is the platform of the device.
    init?(_ purchase: Purchase, device: String?) {
        guard isText(purchase.originalTransactionId, 2048) else { return nil }
        id = purchase.originalTransactionId
        productId = purchase.productId.flatMap { isText($0, 255) ? $0 : nil }
        jws = purchase.jws.flatMap { $0.isEmpty ? nil : $0 }
        platform = jws != nil || device == "ios" ? "ios" : nil
        let signed = jws.flatMap(transactionId)
        transaction = (signed ?? purchase.transactionId ?? "") + (jws == nil ? "" : "+")
    }
}

/// The transaction that a signed transaction is about.
private func transactionId(_ jws: String) -> String? {
    let parts = jws.components(separatedBy: ".")
    guard parts.count == 3, let payload = base64Decoded(parts[1]) else { return nil }
    return Json.fields(payload)["transactionId"] as? String
}
