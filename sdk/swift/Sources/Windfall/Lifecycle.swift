import Foundation
import Network
import WindfallCore

#if canImport(UIKit)
    import UIKit
#endif

/// Wakes the SDK in the foreground and when there is a connection, and lets it send when the app goes to the
/// background.
@MainActor
final class Lifecycle {
    private var monitor: NWPathMonitor?

    nonisolated init() {}

    /// A second call does nothing.
    func watch(core: Core, store: StoreObserver) {
        guard monitor == nil else { return }
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { @Sendable path in
            if path.status == .satisfied { core.wake() }
        }
        monitor.start(queue: DispatchQueue(label: "windfall.network"))
        self.monitor = monitor
        #if canImport(UIKit)
            on(UIApplication.willEnterForegroundNotification) {
                core.wake()
                Task { await store.read() }
            }
            on(UIApplication.didEnterBackgroundNotification) {
                let time = BackgroundTime()
                Task {
                    await core.flush()
                    time?.end()
                }
            }
        #endif
    }

    #if canImport(UIKit)
        private func on(_ name: Notification.Name, _ work: @escaping @MainActor @Sendable () -> Void) {
            _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
                @Sendable [weak self] _ in
                MainActor.assumeIsolated { if self != nil { work() } }
            }
        }
    #endif
}
