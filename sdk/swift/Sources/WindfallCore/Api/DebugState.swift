import Foundation

/// What the SDK knows, for a debug screen.
public struct DebugState: Sendable {
    /// A call that waits to be sent.
    public struct Waiting: Sendable, Equatable {
        /// The two calls of the server.
        public enum Call: String, Sendable {
            case identify, attribute
        }
        public let call: Call
        public let appUserId: String
        public let at: Date
        public let originalTransactionId: String?
    }

    /// The state of the storage.
    public enum Storage: String, Sendable {
        case ok
        /// The storage refused a write; what could not be stored is in memory.
        case failing
        /// There is no storage.
        case memory
    }

    /// Whether `configure` had an address and a bundle id.
    public let configured: Bool
    /// The id that calls are made under now: yours, or the anonymous one.
    public let appUserId: String?
    public let anonymousId: String?
    /// What waits to be sent, in order.
    public let queue: [Waiting]
    /// Purchases that were refused for good in the last 30 days.
    public let refused: [RefusedPurchase]
    public let storage: Storage
    /// The last answer, such as `200`, `403 app_not_in_organization` or `no connection`.
    public let lastAnswer: String?
}

/// A purchase that will not be sent again. `code` says why.
public struct RefusedPurchase: Sendable, Equatable {
    public let code: String
    public let appUserId: String
    public let originalTransactionId: String
    public let productId: String?
    public let at: Date
}
