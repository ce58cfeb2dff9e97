import DeviceCheck
import Foundation
import WindfallCore

/// Apple's App Attest.
struct AppAttest: Attester {
    let support: AttestationSupport

    /// - Parameter environment: that of keys which this build makes
    init(isSimulator: Bool, environment: String) {
        if isSimulator {
            support = .simulator
        } else {
            // Extensions say that it is supported, and cannot make keys.
            let works = !isExtension() && DCAppAttestService.shared.isSupported
            support = works ? .works(environment: environment) : .unsupported
        }
    }

    func makeKey() async throws -> String {
        do {
            return try await DCAppAttestService.shared.generateKey()
        } catch {
            throw AttestationError(error)
        }
    }

    func attest(keyId: String, clientDataHash: Data) async throws -> Data {
        do {
            return try await DCAppAttestService.shared.attestKey(keyId, clientDataHash: clientDataHash)
        } catch {
            throw AttestationError(error)
        }
    }

    func assert(keyId: String, clientDataHash: Data) async throws -> Data {
        do {
            return try await DCAppAttestService.shared.generateAssertion(keyId, clientDataHash: clientDataHash)
        } catch let error as DCError where error.code == .invalidInput {
            // The hash is right, so it is the key that is wrong.
            throw AttestationError.invalidKey
        } catch {
            throw AttestationError(error)
        }
    }
}

extension AttestationError {
    fileprivate init(_ error: any Error) {
        switch (error as? DCError)?.code {
        case .invalidKey: self = .invalidKey
        case .serverUnavailable: self = .unavailable
        default: self = .failed
        }
    }
}
