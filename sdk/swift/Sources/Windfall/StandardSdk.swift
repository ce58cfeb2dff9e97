import Foundation
import WindfallCore

extension Sdk {
    /// The SDK as apps use it.
    static func standard() -> Sdk {
        let service = "windfall.\(Bundle.main.bundleIdentifier ?? "")"
        let anonymousId = AnonymousIdCell(
            defaults: DefaultsCell(name: "windfall.anonymousId"),
            keychain: KeychainCell(service: service, account: "anonymousId"))
        let attester = AppAttest(
            isSimulator: BuildEnvironment.isSimulator,
            environment: BuildEnvironment.ofAppAttest(
                profile: Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision")))
        let environment = Environment.standard(
            anonymousId: anonymousId,
            enrolment: KeychainCell(service: service, account: "enrolment"), attester: attester)
        return Sdk(environment: environment, anonymousId: anonymousId)
    }
}
