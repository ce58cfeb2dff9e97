package dev.windfall.core

/** The server of a case: it answers as the case says. */
internal class ContractServer {
    private val sent = ArrayList<Request>()
    private val answers = ArrayDeque<Any?>()
    private var otherwise: Any? = ACCEPT

    fun set(next: List<Any?>, after: Any?) {
        answers.clear()
        answers.addAll(next)
        otherwise = after ?: ACCEPT
    }

    /** The requests since the last call. */
    fun takeSent(): List<Request> = sent.toList().also { sent.clear() }

    fun answer(request: Request): Outcome {
        sent += request
        val given = answers.removeFirstOrNull() ?: otherwise
        return Outcome.Now(if (given == ACCEPT) accepted(request) else answered(Fields(given)))
    }

    private fun accepted(request: Request): Answer {
        val body = Json.fields(request.body)
        val common = mapOf("appUserId" to body["appUserId"], "verification" to "unverified")
        val own = if (request.url.endsWith("identify")) {
            mapOf("bundleId" to body["bundleId"])
        } else {
            mapOf("originalTransactionId" to body["originalTransactionId"], "moved" to false)
        }
        return Answer(200, Json.text(common + own))
    }

    /** Null for the texts that say that there is no answer. */
    private fun answered(given: Fields): Answer? {
        val status = given.long("status") ?: return null
        val body = given["body"]?.let { Json.text(it) } ?: given.string("text").orEmpty()
        return Answer(status.toInt(), body, Fields(given["headers"]).string("retry-after"))
    }

    private companion object {
        const val ACCEPT = "accept"
    }
}
