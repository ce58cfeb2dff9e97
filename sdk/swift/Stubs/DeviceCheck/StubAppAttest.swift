/// The Secure Enclave of a test.
import Foundation

public final class StubAppAttest: @unchecked Sendable {
    public static let shared = StubAppAttest()

    private let lock = NSLock()
    private var state = State()

    private struct State {
        var isSupported = true
        var failure: DCError.Code?
        var keys: [String] = []
        var made = 0
    }

    /// A device without keys on which App Attest works.
    public func reset() { locked { $0 = State() } }

    public var isSupported: Bool {
        get { locked { $0.isSupported } }
        set { locked { $0.isSupported = newValue } }
    }

    /// The error of each call until it is nil.
    public var failure: DCError.Code? {
        get { locked { $0.failure } }
        set { locked { $0.failure = newValue } }
    }

    /// How many keys were made since the reset.
    public var madeKeys: Int { locked { $0.made } }

    /// A reinstalled app, a restored backup, a new phone: the keys are gone.
    public func forgetKeys() { locked { $0.keys = [] } }

    func generateKey() throws -> String {
        try locked { state in
            if let code = state.failure { throw DCError(code) }
            state.made += 1
            let key = "key \(state.made)"
            state.keys.append(key)
            return key
        }
    }

    func sign(_ what: String, _ key: String, _ hash: Data) throws -> Data {
        try locked { state in
            if let code = state.failure { throw DCError(code) }
            guard state.keys.contains(key) else { throw DCError(.invalidKey) }
            return Data("\(what) of \(key) over \(hash.base64EncodedString())".utf8)
        }
    }

    private func locked<T>(_ work: (inout State) throws -> T) rethrows -> T {
        lock.lock()
        defer { lock.unlock() }
        return try work(&state)
    }
}
