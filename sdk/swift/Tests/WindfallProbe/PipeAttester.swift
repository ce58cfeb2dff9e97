import Foundation
import WindfallCore

/// App Attest of the test that started this process.
final class PipeAttester: Attester, @unchecked Sendable {
    static let shared = PipeAttester()

    let support = AttestationSupport.works(environment: "production")
    private let lock = NSLock()
    private var waiting: [Int: CheckedContinuation<String, any Error>] = [:]
    private var asked = 0

    func makeKey() async throws -> String { try await ask("key", [:]) }

    func attest(keyId: String, clientDataHash: Data) async throws -> Data {
        try await sign("attestation", keyId, clientDataHash)
    }

    func assert(keyId: String, clientDataHash: Data) async throws -> Data {
        try await sign("assertion", keyId, clientDataHash)
    }

    private func sign(_ what: String, _ keyId: String, _ hash: Data) async throws -> Data {
        let fields: Attributes = ["keyId": .string(keyId), "hash": .string(hash.base64EncodedString())]
        guard let data = Data(base64Encoded: try await ask(what, fields)) else { throw AttestationError.failed }
        return data
    }

    private func ask(_ what: String, _ fields: Attributes) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            lock.lock()
            asked += 1
            let id = asked
            waiting[id] = continuation
            lock.unlock()
            Line.print(fields.merging(["ask": .string(what), "id": .int(id)]) { $1 })
        }
    }

    /// Takes the answer to a question.
    func finish(_ command: Command) {
        lock.lock()
        let continuation = waiting.removeValue(forKey: command.id ?? 0)
        lock.unlock()
        if let text = command.text {
            continuation?.resume(returning: text)
        } else {
            continuation?.resume(throwing: command.error == "invalidKey" ? AttestationError.invalidKey : .failed)
        }
    }
}
