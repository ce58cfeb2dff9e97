/// Stands in for DeviceCheck on Linux: the names that `Windfall` uses, with Apple's signatures.
import Foundation

open class DCAppAttestService: NSObject {
    nonisolated(unsafe) private static let instance = DCAppAttestService()
    open class var shared: DCAppAttestService { instance }

    open var isSupported: Bool { StubAppAttest.shared.isSupported }

    open func generateKey() async throws -> String {
        try StubAppAttest.shared.generateKey()
    }

    open func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
        try StubAppAttest.shared.sign("attestation", keyId, clientDataHash)
    }

    open func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
        try StubAppAttest.shared.sign("assertion", keyId, clientDataHash)
    }
}

public struct DCError: Error {
    public enum Code: Int, Sendable {
        case unknownSystemFailure
        case featureUnsupported
        case invalidInput
        case invalidKey
        case serverUnavailable
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}
