import Foundation
import StoreKit
import WindfallCore

/// Reports what StoreKit has and delivers. It finishes no transaction: that is the app's to do.
actor StoreObserver {
    private let core: Core
    private let xcode: XcodeNotice
    private let deliveries = Deliveries()
    private var listening: Task<Void, Never>?
    private var reading: Task<Void, Never>?

    init(core: Core, warn: @escaping @Sendable (String) -> Void) {
        self.core = core
        xcode = XcodeNotice(warn: warn)
    }

    /// Listens as long as the process lives, and reads what StoreKit has already. A second call does nothing.
    func start() async {
        guard listening == nil else { return }
        let updates = Transaction.updates
        listening = Task.detached {
            for await result in updates { self.take(result, .observed) }
        }
        await read()
    }

    /// Reads the current entitlements, then the history: purchases of other devices, of an earlier install, or of a
    /// time before the app had the SDK. Calls that overlap run one after another; without `start` they do nothing.
    func read() async {
        guard listening != nil else { return }
        let earlier = reading
        let task = Task.detached {
            await earlier?.value
            for await result in Transaction.currentEntitlements { self.take(result, .found) }
            for result in await originals() { self.take(result, .past) }
        }
        reading = task
        await task.value
    }

    /// Reports the result of the app's own purchase. Later deliveries of its transaction repeat it.
    nonisolated func record(_ result: VerificationResult<Transaction>, done: Core.Done? = nil) {
        if case .verified(let transaction) = result { _ = deliveries.isNew(transaction) }
        report(result, .observed, done: done)
    }

    private nonisolated func take(_ result: VerificationResult<Transaction>, _ occasion: Occasion) {
        guard case .verified(let transaction) = result, deliveries.isNew(transaction) else { return }
        report(result, occasion)
    }

    /// Reports a verified transaction, and a revoked one only if its purchase never was. Unverified ones are ignored.
    private nonisolated func report(
        _ result: VerificationResult<Transaction>, _ occasion: Occasion, done: Core.Done? = nil
    ) {
        guard case .verified(let transaction) = result else {
            done?()
            return
        }
        xcode.look(at: transaction)
        let purchase = Purchase(
            originalTransactionId: String(transaction.originalID), transactionId: String(transaction.id),
            productId: transaction.productID, jws: result.jwsRepresentation)
        core.attributePurchase(purchase, transaction.revocationDate == nil ? occasion : .past, done: done)
    }
}

/// One transaction of each purchase in the history: its first, if StoreKit still has it.
private func originals() async -> [VerificationResult<Transaction>] {
    var places: [UInt64: Int] = [:]
    var found: [VerificationResult<Transaction>] = []
    for await result in Transaction.all {
        guard case .verified(let transaction) = result else { continue }
        if let place = places[transaction.originalID] {
            if transaction.id == transaction.originalID { found[place] = result }
        } else {
            places[transaction.originalID] = found.count
            found.append(result)
        }
    }
    return found
}
