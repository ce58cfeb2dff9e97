#if canImport(UIKit)
    import Foundation
    import UIKit

    /// Time in the background, which has to be given back.
    @MainActor
    final class BackgroundTime {
        private let application: UIApplication
        private var identifier = UIBackgroundTaskIdentifier.invalid

        /// Nil in an app extension.
        init?() {
            // App extensions must not name `UIApplication.shared`, so this is its name for Objective-C.
            guard !isExtension(), let application = UIApplication.value(forKey: "sharedApplication") as? UIApplication
            else { return nil }
            self.application = application
            identifier = application.beginBackgroundTask(withName: "Windfall") { [weak self] in self?.end() }
        }

        /// A second call, or one without time that the system gave, does nothing.
        func end() {
            guard identifier != .invalid else { return }
            application.endBackgroundTask(identifier)
            identifier = .invalid
        }
    }
#endif
