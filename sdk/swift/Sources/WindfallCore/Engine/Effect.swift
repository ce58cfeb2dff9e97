import Foundation

/// What the engine wants from outside. Its owner performs it and reports the outcome, so that the engine itself never
/// waits and a test decides when what happens.
enum Effect: Sendable {
    case post(Request)
    case timer(milliseconds: Double)
    case makeKey
    case attest(keyId: String, hash: Data)
    case assert(keyId: String, hash: Data)
    /// Ends the effect with that number without an outcome.
    case cancel(Int)
}

enum Outcome: Sendable {
    case answer(Answer?)
    case fired
    case key(Result<String, AttestationError>)
    case signed(Result<Data, AttestationError>)
}

extension Effect {
    /// Performs the effect.
    func outcome(_ network: any Network, _ attester: any Attester) async -> Outcome {
        switch self {
        case .post(let request):
            return .answer(await network.post(request))
        case .timer(let milliseconds):
            try? await Task.sleep(nanoseconds: UInt64(max(0, milliseconds) * 1_000_000))
            return .fired
        case .makeKey:
            return .key(await result { try await attester.makeKey() })
        case .attest(let keyId, let hash):
            return .signed(await result { try await attester.attest(keyId: keyId, clientDataHash: hash) })
        case .assert(let keyId, let hash):
            return .signed(await result { try await attester.assert(keyId: keyId, clientDataHash: hash) })
        case .cancel:
            return .fired
        }
    }
}

private func result<T>(_ work: () async throws -> T) async -> Result<T, AttestationError> {
    do {
        return .success(try await work())
    } catch {
        return .failure(error as? AttestationError ?? .failed)
    }
}
