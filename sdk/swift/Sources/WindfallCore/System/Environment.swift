import Foundation

/// What the core takes from its runtime. Tests pass their own.
package struct Environment: Sendable {
    /// The wall clock, in milliseconds since 1970.
    package var now: @Sendable () -> Double
    /// A number from 0 to 1, for waits.
    package var random: @Sendable () -> Double
    /// A UUIDv4 in lower case.
    package var uuid: @Sendable () -> String
    /// The queue and the state. Nil: they are kept in memory.
    package var storage: (any Storage)?
    /// A second place for the anonymous id, which is read when the storage has none.
    package var anonymousId: any Cell
    /// The enrolment of the device, with its token.
    package var enrolment: any Cell
    package var network: any Network
    package var attester: any Attester
    /// Takes warnings, which are for the developer of the app.
    package var warn: @Sendable (String) -> Void

    package init(
        now: @escaping @Sendable () -> Double, random: @escaping @Sendable () -> Double,
        uuid: @escaping @Sendable () -> String, storage: (any Storage)?, anonymousId: any Cell,
        enrolment: any Cell, network: any Network, attester: any Attester,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.now = now
        self.random = random
        self.uuid = uuid
        self.storage = storage
        self.anonymousId = anonymousId
        self.enrolment = enrolment
        self.network = network
        self.attester = attester
        self.warn = warn
    }
}

/// Texts by name. An operation that throws had no effect, or had it late.
package protocol Storage: Sendable {
    /// Nil if there is none.
    func read(_ name: String) throws -> String?
    /// Takes all of the text or nothing, also when the process is killed.
    func write(_ name: String, _ text: String) throws
    /// Succeeds if there is none.
    func remove(_ name: String) throws
    func names() throws -> [String]
}

/// A place for one text.
package protocol Cell: Sendable {
    /// Nil if there is none. Throws if it cannot be read now, such as before the first unlock of the device.
    func read() throws -> String?
    /// Nil removes it.
    func write(_ text: String?) throws
}

/// A request. All requests are posts.
package struct Request: Sendable {
    package let url: String
    /// Names are in lower case.
    package let headers: [String: String]
    package let body: Data
}

package struct Answer: Sendable {
    package let status: Int
    package let body: Data
    package let retryAfter: String?

    package init(status: Int, body: Data, retryAfter: String? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

package protocol Network: Sendable {
    /// Nil without an answer, also after a timeout. Follows no redirects.
    func post(_ request: Request) async -> Answer?
}

/// What describes the device in identify calls. Fields that are not known are nil.
package struct Device: Sendable, Equatable, Codable {
    package var platform: String?
    package var osVersion: String?
    package var deviceModel: String?
    package var locale: String?

    package init(
        platform: String? = nil, osVersion: String? = nil, deviceModel: String? = nil, locale: String? = nil
    ) {
        self.platform = platform
        self.osVersion = osVersion
        self.deviceModel = deviceModel
        self.locale = locale
    }
}
