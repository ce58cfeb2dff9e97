import Foundation

/// Whether this device can attest.
package enum AttestationSupport: Sendable, Equatable {
    /// `environment` is App Attest's, such as `production`. Keys of one are not known in another.
    case works(environment: String)
    case unsupported
    case simulator
}

/// Why App Attest gave nothing.
package enum AttestationError: Error, Sendable, Equatable {
    /// The key is not known: after a reinstall, a restore or on a new phone.
    case invalidKey
    /// Apple's server or the device cannot do it now; the same key may work later.
    case unavailable
    case failed
}

/// App Attest. Each function throws an `AttestationError`; other errors count as `failed`.
package protocol Attester: Sendable {
    var support: AttestationSupport { get }
    /// Makes a key and returns its id, in base64.
    func makeKey() async throws -> String
    func attest(keyId: String, clientDataHash: Data) async throws -> Data
    func assert(keyId: String, clientDataHash: Data) async throws -> Data
}
