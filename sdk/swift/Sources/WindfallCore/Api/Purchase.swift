import Foundation

/// A purchase as StoreKit or the app reports it.
package struct Purchase: Sendable {
    package var originalTransactionId: String
    /// Renewals of a purchase differ in it. Taken from `jws` if absent.
    package var transactionId: String?
    package var productId: String?
    /// The signed transaction, which proves the purchase.
    package var jws: String?

    package init(
        originalTransactionId: String, transactionId: String? = nil, productId: String? = nil,
        jws: String? = nil
    ) {
        self.originalTransactionId = originalTransactionId
        self.transactionId = transactionId
        self.productId = productId
        self.jws = jws
    }
}

/// Why a purchase is reported.
package enum Occasion: Sendable {
    /// The app asked for it: it is always sent.
    case asked
    /// It happened now. It is left out for an anonymous id, if a known user of this install has or will have it, and for a
    /// user who has or will have this transaction.
    case observed
    /// StoreKit still has it. It is left out if any user of this install has or will have this transaction.
    case found
    /// It is an old original. It is left out if any user of this install has or will have the purchase.
    case past
}
