import StoreKit
@_exported import WindfallCore

/// Tells your own Windfall which of your users bought what.
///
/// Every function may be called from any thread or actor, also before `configure`. Nothing throws or blocks. Calls
/// take effect in their order. The forms with `async` return when the call is stored: if the process is killed
/// afterwards, the next start sends it. Before `configure`, and while the storage cannot be read, they return at once.
public enum Windfall {
    /// Starts the SDK; call it once, at the start of the app. A second call changes `url`, `key`, `bundleId` and
    /// `debug`.
    ///
    /// - Parameters:
    ///   - url: The address of your Windfall, such as `https://windfall.example.com`.
    ///   - key: A publishable key, `pk_live_…`, where your Windfall demands one.
    ///   - bundleId: Instead of the app's bundle id; in an app extension that of the app around it.
    ///   - autoTrack: `false` reports only what is passed to `record` and `attributePurchase`. App extensions never
    ///     report more.
    ///   - keychain: `true` keeps a copy of the anonymous id in the Keychain, where it survives a reinstall.
    ///   - debug: Takes lines about what the SDK does.
    public static func configure(
        url: String, key: String? = nil, bundleId: String? = nil, autoTrack: Bool = true, keychain: Bool = false,
        debug: (@Sendable (String) -> Void)? = nil
    ) {
        let options = Options(
            url: url, key: key, bundleId: bundleId ?? appBundleId(), device: currentDevice(), debug: debug)
        Sdk.shared.configure(options, autoTrack: tracks(autoTrack), keychain: keychain)
    }

    /// Says who the user is; call it after login and at each start. Nothing is sent if nothing changed.
    ///
    /// What was reported anonymously since the last `reset` is reported again for this user, purchases with their
    /// proof.
    public static func identify(_ userId: String, attributes: Attributes = [:]) {
        Sdk.shared.core.identify(userId, attributes: attributes)
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func identify(_ userId: String, attributes: Attributes = [:]) async {
        await stored { Sdk.shared.core.identify(userId, attributes: attributes, done: $0) }
    }

    /// Sets attributes of the user, or of the anonymous id. Others stay.
    public static func setAttributes(_ attributes: Attributes) {
        Sdk.shared.core.setAttributes(attributes)
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func setAttributes(_ attributes: Attributes) async {
        await stored { Sdk.shared.core.setAttributes(attributes, done: $0) }
    }

    /// Reports a purchase by its ids, and is always sent. It carries no proof: purchases of StoreKit 2 are reported
    /// with theirs by `record` and by themselves.
    public static func attributePurchase(originalTransactionId: String, productId: String? = nil) {
        Sdk.shared.core.attributePurchase(
            Purchase(originalTransactionId: originalTransactionId, productId: productId))
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func attributePurchase(originalTransactionId: String, productId: String? = nil) async {
        let purchase = Purchase(originalTransactionId: originalTransactionId, productId: productId)
        await stored { Sdk.shared.core.attributePurchase(purchase, done: $0) }
    }

    /// Reports the result of your own `purchase()`, which StoreKit's `Transaction.updates` does not deliver. Finishing
    /// the transaction stays yours. Results without a transaction are ignored.
    public static func record(_ result: Product.PurchaseResult) {
        Sdk.shared.record(result)
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func record(_ result: Product.PurchaseResult) async {
        await stored { Sdk.shared.record(result, done: $0) }
    }

    /// Reports a transaction as StoreKit gave it. Unverified ones are ignored.
    public static func record(_ result: VerificationResult<Transaction>) {
        Sdk.shared.record(result)
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func record(_ result: VerificationResult<Transaction>) async {
        await stored { Sdk.shared.record(result, done: $0) }
    }

    /// A new anonymous id; call it at logout, and only then. What waits for the user is still sent.
    public static func reset() {
        Sdk.shared.core.reset()
    }

    /// Like the form without `async`; returns when the call is stored.
    public static func reset() async {
        await stored { Sdk.shared.core.reset(done: $0) }
    }

    /// Tries to send now.
    public static func flush() {
        Sdk.shared.core.wake()
    }

    /// Tries to send now. Returns when all that need not wait was sent.
    public static func flush() async {
        await Sdk.shared.core.flush()
    }

    /// What the SDK knows, for a debug screen.
    public static func debugState() async -> DebugState {
        await Sdk.shared.core.debugState()
    }
}

/// Returns when `call` has called what it got.
private func stored(_ call: (@escaping @Sendable () -> Void) -> Void) async {
    await withCheckedContinuation { continuation in call { continuation.resume() } }
}
