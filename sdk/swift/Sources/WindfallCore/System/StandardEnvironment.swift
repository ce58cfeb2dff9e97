import Foundation

extension Environment {
    /// The runtime of an app. `folder` is where the queue is kept, by default in Application Support.
    package static func standard(
        folder: URL? = nil, anonymousId: any Cell, enrolment: any Cell, network: any Network = URLSessionNetwork(),
        attester: any Attester,
        warn: @escaping @Sendable (String) -> Void = { NSLog("[windfall] %@", $0) }
    ) -> Environment {
        let files = (folder ?? standardFolder).flatMap { try? FileStorage(folder: $0.appendingPathComponent("queue")) }
        return Environment(
            now: { Date().timeIntervalSince1970 * 1000 },
            random: { Double.random(in: 0...1) },
            uuid: { UUID().uuidString.lowercased() },
            storage: files,
            anonymousId: anonymousId,
            enrolment: enrolment,
            network: network,
            attester: attester,
            warn: warn)
    }

    private static var standardFolder: URL? {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?
            .appendingPathComponent("Windfall")
    }
}
