/// Stands in for StoreKit on Linux: the names that `Windfall` uses, with Apple's signatures. There is no `finish()`:
/// code that finishes a transaction does not compile here.
import Foundation

public struct Transaction: Identifiable, Sendable {
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let expirationDate: Date?
    public let revocationDate: Date?
    /// The payload of the signed transaction.
    public let jsonRepresentation: Data

    public static var updates: Transactions { StubStore.shared.updates() }
    public static var all: Transactions { StubStore.shared.snapshot(\.history) }
    public static var currentEntitlements: Transactions { StubStore.shared.snapshot(\.entitlements) }

    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>
        let stream: AsyncStream<Element>

        public struct AsyncIterator: AsyncIteratorProtocol {
            var inner: AsyncStream<Element>.Iterator
            public mutating func next() async -> Element? { await inner.next() }
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inner: stream.makeAsyncIterator()) }
    }
}

@frozen public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error {
        case invalidSignature
    }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    /// Header, payload and signature; the signature is not valid.
    public var jwsRepresentation: String {
        let transaction: Transaction
        switch self {
        case .verified(let value), .unverified(let value, _): transaction = value
        }
        let payload = transaction.jsonRepresentation.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return "e30.\(payload).c2ln"
    }
}

public struct Product {
    public enum PurchaseResult {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }
}
