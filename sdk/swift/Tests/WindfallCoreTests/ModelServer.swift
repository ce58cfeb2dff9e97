import Foundation

@testable import WindfallCore

/// A small Windfall in memory: what calls do to users and links, and the history of each.
final class ModelServer {
    enum Mode: CaseIterable {
        case open, offline, answerLost, answerLate, captive, limited, broken, forbidden
    }

    static let goodProof = "eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.good"
    static let badProof = "eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.bad"

    var mode = Mode.open
    /// At the end the proofs that were refused are accepted: their tries must name the right user.
    var areProofsGood = false
    private(set) var users: Set<String> = []
    /// The users of each purchase, without repetitions: the last one holds it.
    var links: [String: [String]] = [:]
    /// By user and name, the values that each attribute had, one after another.
    private(set) var history: [String: [Int]] = [:]

    func answer(_ request: Request) -> World.Reply {
        switch mode {
        case .offline: return .now(nil)
        case .captive: return .now(Answer(status: 200, body: Data("<html>Welcome to the hotel</html>".utf8)))
        case .limited: return .now(answered(429, ["code": "rate_limited"], retryAfter: "7"))
        case .broken: return .now(answered(503, ["code": "store_unavailable"]))
        case .forbidden: return .now(answered(403, ["code": "app_not_in_organization"]))
        case .open: return .now(accept(request))
        case .answerLost:
            _ = accept(request)
            return .now(nil)
        case .answerLate: return .later(accept(request))
        }
    }

    private func answered(_ status: Int, _ fields: [String: String], retryAfter: String? = nil) -> Answer {
        Answer(status: status, body: Json.data(fields), retryAfter: retryAfter)
    }

    private func accept(_ request: Request) -> Answer? {
        guard let body = try? JsonValue(parsing: request.body), let user = body["appUserId"]?.text else { return nil }
        if body["jws"]?.text == Self.badProof, !areProofsGood {
            return answered(400, ["code": "invalid_signed_transaction"])
        }
        if let id = body["originalTransactionId"]?.text {
            if links[id]?.last != user { links[id, default: []].append(user) }
            return answered(
                200, ["originalTransactionId": id, "appUserId": user, "verification": "unverified"])
        }
        users.insert(user)
        for (name, value) in body["attributes"]?.object ?? [:] {
            let key = "\(user) \(name)"
            let number = Int(value.number ?? -1)
            if history[key]?.last != number { history[key, default: []].append(number) }
        }
        return answered(
            200,
            ["appUserId": user, "bundleId": body["bundleId"]?.text ?? "", "verification": "unverified"])
    }

    /// Compares what the server has with what the calls meant; nil if it is the same.
    func fault(_ model: Model) -> String? {
        if let missing = model.users.subtracting(users).sorted().first { return "user \(missing) is missing" }
        for (id, reports) in model.purchases where !follows(links[id] ?? [], reports) {
            return "purchase \(id): \(links[id] ?? []) of \(reports.map { "\($0.value) \($0.isSure)" })"
        }
        for id in links.keys where model.purchases[id] == nil { return "purchase \(id) is foreign" }
        for (key, values) in model.values where !isHistory(history[key] ?? [], values) {
            return "attribute \(key): \(history[key] ?? []) of \(values.map { "\($0.value) \($0.isSure)" })"
        }
        for key in history.keys where model.values[key] == nil { return "attribute \(key) is foreign" }
        return nil
    }
}
