import StoreKit
import WindfallCore

/// The SDK of this process: the core, and what feeds and wakes it.
final class Sdk: Sendable {
    static let shared = Sdk.standard()

    let core: Core
    let store: StoreObserver
    private let anonymousId: AnonymousIdCell
    let lifecycle = Lifecycle()

    init(environment: Environment, anonymousId: AnonymousIdCell) {
        core = Core(environment: environment)
        store = StoreObserver(core: core, warn: environment.warn)
        self.anonymousId = anonymousId
    }

    func configure(_ options: Options, autoTrack: Bool, keychain: Bool) {
        // Before the core, which reads the id when it starts.
        anonymousId.choose(keychain: keychain)
        core.configure(options)
        if autoTrack { Task { await store.start() } }
        Task { await lifecycle.watch(core: core, store: store) }
    }

    func record(_ result: Product.PurchaseResult, done: Core.Done? = nil) {
        if case .success(let transaction) = result {
            record(transaction, done: done)
        } else {
            done?()
        }
    }

    func record(_ result: VerificationResult<Transaction>, done: Core.Done? = nil) {
        store.record(result, done: done)
    }
}
