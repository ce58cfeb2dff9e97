import Foundation
import StoreKit

/// The transactions that this process has reported. StoreKit delivers a transaction several times, and again when one of
/// its dates changes.
final class Deliveries: @unchecked Sendable {
    private struct Delivery: Hashable {
        let id: UInt64
        let revocationDate: Date?
        let expirationDate: Date?
    }

    private let lock = NSLock()
    private var seen: Set<Delivery> = []

    /// Whether this is not a repetition. From then on it is one.
    func isNew(_ transaction: Transaction) -> Bool {
        let delivery = Delivery(
            id: transaction.id, revocationDate: transaction.revocationDate, expirationDate: transaction.expirationDate)
        lock.lock()
        defer { lock.unlock() }
        return seen.insert(delivery).inserted
    }
}
