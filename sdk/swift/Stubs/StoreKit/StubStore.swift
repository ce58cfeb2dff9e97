/// The App Store account of a test: what it has bought, and what it delivers while the app runs.
import Foundation

public final class StubStore: @unchecked Sendable {
    public static let shared = StubStore()

    private let lock = NSLock()
    private var state = State()

    struct State {
        var entitlements: [VerificationResult<Transaction>] = []
        var history: [VerificationResult<Transaction>] = []
        var listeners: [AsyncStream<VerificationResult<Transaction>>.Continuation] = []
        /// What was delivered before anything listened. StoreKit keeps unfinished transactions so.
        var early: [VerificationResult<Transaction>] = []
        /// How often `Transaction.updates` was read.
        var updateReads = 0
    }

    /// An account without purchases. Sequences that still run end.
    public func reset() {
        let before = locked { state in
            defer { state = State() }
            return state.listeners
        }
        for listener in before { listener.finish() }
    }

    public var entitlements: [VerificationResult<Transaction>] {
        get { locked(\.entitlements) }
        set { locked { $0.entitlements = newValue } }
    }

    public var history: [VerificationResult<Transaction>] {
        get { locked(\.history) }
        set { locked { $0.history = newValue } }
    }

    public var updateReads: Int { locked(\.updateReads) }

    /// Emits a transaction in `Transaction.updates`.
    public func deliver(_ result: VerificationResult<Transaction>) {
        locked { state in
            if state.listeners.isEmpty { state.early.append(result) }
            for listener in state.listeners { listener.yield(result) }
        }
    }

    func updates() -> Transaction.Transactions {
        let (stream, continuation) = AsyncStream.makeStream(of: VerificationResult<Transaction>.self)
        locked { state in
            state.updateReads += 1
            state.listeners.append(continuation)
            for result in state.early { continuation.yield(result) }
            state.early = []
        }
        return Transaction.Transactions(stream: stream)
    }

    func snapshot(_ path: KeyPath<State, [VerificationResult<Transaction>]>) -> Transaction.Transactions {
        let results = locked { $0[keyPath: path] }
        let (stream, continuation) = AsyncStream.makeStream(of: VerificationResult<Transaction>.self)
        for result in results { continuation.yield(result) }
        continuation.finish()
        return Transaction.Transactions(stream: stream)
    }

    private func locked<T>(_ work: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work(&state)
    }
}

extension Transaction {
    /// A transaction for tests; Apple's has no initializer.
    ///
    /// - Parameters:
    ///   - original: the id of the first transaction of the purchase; `id` if nil
    ///   - environment: `Production`, `Sandbox` or `Xcode`
    ///   - ownership: `PURCHASED` or `FAMILY_SHARED`
    public static func stub(
        id: UInt64,
        original: UInt64? = nil,
        product: String = "pro_monthly",
        expires: Date? = nil,
        revoked: Date? = nil,
        environment: String = "Production",
        ownership: String = "PURCHASED"
    ) -> Transaction {
        let payload: [String: String] = [
            "transactionId": String(id),
            "originalTransactionId": String(original ?? id),
            "productId": product,
            "environment": environment,
            "inAppOwnershipType": ownership,
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Transaction(
            id: id,
            originalID: original ?? id,
            productID: product,
            expirationDate: expires,
            revocationDate: revoked,
            jsonRepresentation: (try? encoder.encode(payload)) ?? Data()
        )
    }
}
