package dev.windfall.core

/** Runs the steps of a case of the contract. */
internal class ContractRunner(case: Contract.Case) {
    private val world = World()
    private val server = ContractServer()
    private val bindings = Bindings()
    private val given = Fields(case.options)
    private var device = case.device

    init {
        world.answer = server::answer
    }

    fun run(step: Any?) {
        val fields = Fields(step)
        val times = fields.long("repeat") ?: return runPlain(step)
        for (number in 1..times) {
            for (one in fields.list("steps")) runPlain(Contract.numbered(one, number))
        }
    }

    private fun runPlain(step: Any?) {
        val fields = Fields(step)
        for (name in (step as Map<*, *>).keys.map { "$it" } - DETAILS) {
            if (!change(name, fields) && !check(name, fields)) throw Failure("there is no step $name")
        }
    }

    private fun change(name: String, step: Fields): Boolean {
        when (name) {
            "call" -> make(step)

            "observe" -> observe(Fields(step["observe"]))

            "wake" -> engine { it.wake() }

            "restart" -> {
                world.boot()
                configure(Fields(null))
            }

            "answers" -> server.set(step.list("answers"), step["after"])

            "pass" -> world.advance(milliseconds(step["pass"]))

            "turnClock" -> world.turnClock(milliseconds(step["turnClock"]))

            "device" -> device = device + step.map("device")

            "storage" -> world.fault = faultOf(step.string("storage"))

            else -> return false
        }
        return true
    }

    private fun check(name: String, step: Fields): Boolean {
        when (name) {
            "expect" -> expectSent(step.list("expect"))
            "expectCount" -> expectNumber("requests", step.long(name), server.takeSent().size)
            "expectState" -> expectState(step["expectState"])
            "expectWarnings" -> expectNumber("warnings", step.long(name), world.warnings)
            else -> return false
        }
        return true
    }

    private fun <T> engine(work: (Engine) -> T): T = world.process.run(work) ?: throw Failure("the process is dead")

    private fun make(step: Fields) = when (val call = step.string("call")) {
        "configure" -> configure(Fields(step["options"]))
        "identify" -> engine { it.identify(step.string("userId").orEmpty(), step.map("attributes")) {} }
        "setAttributes" -> engine { it.setAttributes(step.map("attributes")) {} }
        "reset" -> engine { it.reset {} }
        "flush" -> engine { it.flush {} }
        "attributePurchase" -> engine { it.attributePurchase(saleOf(Fields(step["purchase"])), false) {} }
        else -> throw Failure("there is no call $call")
    }

    /** The listener of the app does not pass on what is not paid yet. */
    private fun observe(purchase: Fields) {
        if (purchase.string("purchaseState") == "pending") return
        engine { it.attributePurchase(saleOf(purchase), true) {} }
    }

    private fun saleOf(purchase: Fields) =
        Sale.of(purchase.string("purchaseToken").orEmpty(), purchase.string("productId"))

    private fun configure(more: Fields) {
        val facts = Fields(device)
        val (platform, version, model, locale) =
            listOf("platform", "osVersion", "deviceModel", "locale").map { facts.string(it) }
        fun option(name: String) = more.string(name) ?: given.string(name)
        val options = Options(
            url = option("url").orEmpty(),
            key = option("key"),
            bundleId = option("bundleId") ?: facts.string("bundleId"),
            device = Device(platform, version, model, locale),
            debug = null,
        )
        engine { it.configure(options) }
    }

    private fun expectNumber(what: String, expected: Long?, actual: Int) {
        if (expected != actual.toLong()) throw Failure("expected $expected $what, but $actual")
    }

    private fun expectSent(expected: List<Any?>) {
        val actual = server.takeSent()
        val isSame =
            actual.size == expected.size && expected.indices.all { isRequest(Fields(expected[it]), actual[it]) }
        if (isSame) return
        val shown = actual.joinToString("\n") { "${it.url} ${it.headers} ${it.body}" }
        throw Failure("expected ${Json.text(expected)}, but\n$shown")
    }

    private fun isRequest(expected: Fields, request: Request): Boolean {
        val path = expected.string("path").orEmpty()
        val url = if (path.startsWith("/")) given.string("url").orEmpty().removeSuffix("/") + path else path
        return request.url == url &&
            expected.map("headers").all { (name, value) -> request.headers[name] == value } &&
            expected.list("withoutHeaders").none { it in request.headers } &&
            bindings.fits(expected["body"], Json.value(request.body), isExact = true)
    }

    private fun expectState(expected: Any?) {
        val state = shown(engine { it.snapshot() })
        if (!bindings.fits(expected, state, isExact = false)) {
            throw Failure("expected ${Json.text(expected)}, but ${Json.text(state)}")
        }
    }

    /** The state in the words of the contract. */
    private fun shown(state: Snapshot): Map<String, Any?> = mapOf(
        "configured" to state.isConfigured,
        "appUserId" to state.appUserId,
        "anonymousId" to state.anonymousId,
        "queue" to state.queue.map { shown(it) + mapOf("call" to it.call.path, "at" to it.at) },
        "refused" to state.refused.map { one ->
            val more = mapOf("code" to one.code, "productId" to one.item.purchase?.productId, "at" to one.at)
            shown(one.item) + more
        },
        "storage" to if (state.isStored) "ok" else "failing",
        "lastAnswer" to state.lastAnswer,
    )

    private fun shown(item: Item) = mapOf("appUserId" to item.user, "originalTransactionId" to item.purchase?.id)

    private companion object {
        val DETAILS = setOf("options", "userId", "attributes", "purchase", "after")

        fun milliseconds(seconds: Any?) = ((seconds as Number).toDouble() * 1000).toLong()

        fun faultOf(mode: String?): (Operation) -> Fault {
            val failing = when (mode) {
                "refuses writes" -> setOf(Operation.WRITE)
                "refuses removals" -> setOf(Operation.REMOVE)
                "cannot be read" -> setOf(Operation.READ, Operation.NAMES)
                else -> emptySet()
            }
            return { if (it in failing) Fault.BEFORE else Fault.NO }
        }
    }
}
