/// Stands in for UIKit on Linux: the names that `Windfall` uses, with Apple's signatures. There is no
/// `UIApplication.shared`, which app extensions must not name, so code that names it does not compile here.
import Foundation

@MainActor
open class UIApplication: NSObject {
    nonisolated public static let didEnterBackgroundNotification =
        Notification.Name("UIApplicationDidEnterBackgroundNotification")
    nonisolated public static let willEnterForegroundNotification =
        Notification.Name("UIApplicationWillEnterForegroundNotification")

    /// Key-value coding, which Objective-C gives every class.
    open class func value(forKey key: String) -> Any? {
        key == "sharedApplication" ? StubApplication.shared.application : nil
    }

    nonisolated open func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        StubApplication.shared.begin(handler)
    }

    nonisolated open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        StubApplication.shared.end(identifier)
    }
}

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}
