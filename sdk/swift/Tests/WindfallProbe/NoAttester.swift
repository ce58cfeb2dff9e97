import Foundation
import WindfallCore

/// A device without App Attest.
struct NoAttester: Attester {
    let support = AttestationSupport.unsupported

    func makeKey() async throws -> String { throw AttestationError.failed }
    func attest(keyId: String, clientDataHash: Data) async throws -> Data { throw AttestationError.failed }
    func assert(keyId: String, clientDataHash: Data) async throws -> Data { throw AttestationError.failed }
}
