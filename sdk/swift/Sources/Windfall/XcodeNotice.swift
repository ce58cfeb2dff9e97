import Foundation
import StoreKit

/// Says once that purchases come from Xcode's local store, which proves nothing.
final class XcodeNotice: @unchecked Sendable {
    private struct Payload: Decodable {
        let environment: String?
    }

    private let warn: @Sendable (String) -> Void
    private let lock = NSLock()
    private var isSaid = false

    init(warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    func look(at transaction: Transaction) {
        lock.lock()
        defer { lock.unlock() }
        // The property `environment` needs iOS 16.
        let payload = isSaid ? nil : try? JSONDecoder().decode(Payload.self, from: transaction.jsonRepresentation)
        guard let environment = payload?.environment, ["Xcode", "LocalTesting"].contains(environment) else { return }
        isSaid = true
        warn("a purchase is signed by Xcode’s local store: it is answered as unverified, and not stored.")
    }
}
