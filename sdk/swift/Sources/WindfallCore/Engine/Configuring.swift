import Foundation

extension Engine {
    /// Starts the SDK, or changes its options.
    func configure(_ options: Options) {
        let log = options.debug
        debug = { log?($0) }
        guard let next = Target(options) else {
            return environment.warn("configure needs a url and a bundle id; nothing is sent.")
        }
        target = next
        wake()
    }

    func debugState() -> DebugState {
        let isOk = store.isComplete && !hasWaitingCalls
        return DebugState(
            configured: target != nil, appUserId: isLoaded ? state.current : nil,
            anonymousId: isLoaded ? state.anonymousId : nil,
            queue: entries.map { DebugState.Waiting($0.item) },
            refused: state.refused.filter { now - $0.at <= refusedDays * dayMs }.map(RefusedPurchase.init),
            storage: environment.storage == nil ? .memory : isOk ? .ok : .failing, lastAnswer: lastAnswer)
    }
}

extension Target {
    /// Nil if the options lead nowhere.
    convenience init?(_ options: Options) {
        var url = options.url.trimmingCharacters(in: .whitespacesAndNewlines)
        while url.hasSuffix("/") { url.removeLast() }
        let parts = URLComponents(string: url)
        guard let scheme = parts?.scheme, ["http", "https"].contains(scheme), parts?.host?.isEmpty == false,
            let bundleId = options.bundleId, isText(bundleId, 255)
        else { return nil }
        let key = options.key.flatMap { $0.isEmpty ? nil : $0 }
        self.init(url: url, bundleId: bundleId, key: key, device: options.device.cleaned)
    }
}

extension Device {
    /// Without the fields that the server would refuse.
    var cleaned: Device {
        func clean(_ text: String?) -> String? { text.flatMap { isText($0, 64) ? $0 : nil } }
        return Device(
            platform: clean(platform), osVersion: clean(osVersion), deviceModel: clean(deviceModel),
            locale: clean(locale))
    }
}

extension DebugState.Waiting {
    fileprivate init(_ item: Item) {
        self.init(
            call: item.call == .identify ? .identify : .attribute, appUserId: item.user, at: date(item.at),
            originalTransactionId: item.purchase?.id)
    }
}

extension RefusedPurchase {
    fileprivate init(_ one: State.Refused) {
        self.init(
            code: one.code, appUserId: one.item.user, originalTransactionId: one.item.purchase?.id ?? "",
            productId: one.item.purchase?.productId, at: date(one.at))
    }
}

private func date(_ milliseconds: Double) -> Date { Date(timeIntervalSince1970: milliseconds / 1000) }
