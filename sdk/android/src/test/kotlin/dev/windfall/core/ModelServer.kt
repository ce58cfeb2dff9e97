package dev.windfall.core

/** A small Windfall in memory: what calls do to users and links, and the history of each. */
internal class ModelServer {
    enum class Mode { OPEN, OFFLINE, ANSWER_LOST, ANSWER_LATE, CAPTIVE, LIMITED, BROKEN, FORBIDDEN }

    var mode = Mode.OPEN
    private val users = HashSet<String>()

    /** The users of each purchase, without repetitions. The last one holds it. */
    val links = HashMap<String, List<String>>()

    /** By user and name, the values that each attribute had, one after another. */
    private val history = HashMap<String, List<Long>>()

    fun answer(request: Request): Outcome = when (mode) {
        Mode.OPEN -> Outcome.Now(accept(request))
        Mode.OFFLINE -> Outcome.Now(null)
        Mode.ANSWER_LOST -> Outcome.Now(accept(request).let { null })
        Mode.ANSWER_LATE -> Outcome.Later(accept(request))
        Mode.CAPTIVE -> Outcome.Now(Answer(200, "<html>Welcome to the hotel</html>"))
        Mode.LIMITED -> Outcome.Now(answered(429, mapOf("code" to "rate_limited"), retryAfter = "7"))
        Mode.BROKEN -> Outcome.Now(answered(503, mapOf("code" to "store_unavailable")))
        Mode.FORBIDDEN -> Outcome.Now(answered(403, mapOf("code" to "app_not_in_organization")))
    }

    private fun answered(status: Int, fields: Map<String, Any?>, retryAfter: String? = null) =
        Answer(status, Json.text(fields), retryAfter)

    private fun accept(request: Request): Answer {
        val body = Json.fields(request.body)
        val user = body.string("appUserId").orEmpty()
        val id = body.string("originalTransactionId")
        if (id != null) {
            links[id] = followed(links[id], user)
            return answered(200, mapOf("originalTransactionId" to id, "appUserId" to user))
        }
        users += user
        for ((name, value) in body.map("attributes")) {
            history["$user $name"] = followed(history["$user $name"], value as Long)
        }
        return answered(200, mapOf("appUserId" to user, "bundleId" to body["bundleId"]))
    }

    private fun <T> followed(all: List<T>?, next: T): List<T> =
        if (all?.lastOrNull() == next) all else all.orEmpty() + next

    /** Compares what the server has with what the calls meant. Null if it is the same. */
    fun faultIn(model: Model): String? {
        (model.users - users).minOrNull()?.let { return "user $it is missing" }
        for ((id, reports) in model.purchases) {
            val held = links[id].orEmpty()
            for (one in reports) if (one.source in held) one.isSure = true
            if (!follows(held, reports)) return "purchase $id: $held of ${shown(reports)}"
        }
        for ((key, values) in model.values) {
            val had = history[key].orEmpty()
            val name = key.substringAfterLast(' ')
            for (one in values) if (one.value in history["${one.source} $name"].orEmpty()) one.isSure = true
            if (!isHistory(had, values)) return "attribute $key: $had of ${shown(values)}"
        }
        (links.keys - model.purchases.keys).minOrNull()?.let { return "purchase $it is foreign" }
        return (history.keys - model.values.keys).minOrNull()?.let { "attribute $it is foreign" }
    }

    private fun shown(reports: List<Report<*>>) = reports.map { if (it.isSure) "${it.value}" else "${it.value}?" }
}
