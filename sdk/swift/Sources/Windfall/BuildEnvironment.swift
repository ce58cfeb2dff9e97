import Foundation

/// Where this build runs.
enum BuildEnvironment {
    #if targetEnvironment(simulator)
        static let isSimulator = true
    #else
        static let isSimulator = false
    #endif

    /// The environment of App Attest, which does not know the keys of the other one. A build that a debugger may attach
    /// to counts as development. One that uses production all the same enrols once more when the app comes from Apple.
    ///
    /// - Parameter profile: the provisioning profile in the app; builds of the App Store and TestFlight have none
    static func ofAppAttest(profile: URL?) -> String {
        guard let profile, let data = try? Data(contentsOf: profile) else { return "production" }
        // A property list between the bytes of its signature.
        let text = String(decoding: data, as: UTF8.self)
        let isDebugged = text.range(
            of: "<key>get-task-allow</key>\\s*<true/>", options: .regularExpression) != nil
        return isDebugged ? "development" : "production"
    }
}
