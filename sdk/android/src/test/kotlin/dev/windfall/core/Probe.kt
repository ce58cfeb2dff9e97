package dev.windfall.core

import java.io.File
import java.util.UUID
import java.util.concurrent.Executors

/**
 * An app without a screen, for the tests against a real server: it makes the calls that it reads from its input, one JSON
 * object a line, and prints what they lead to. Each call is answered with `done`, when the SDK says so.
 *
 * Arguments: the folder of the storage, and the seconds that its clock is ahead.
 */
public fun main(arguments: Array<String>) {
    val probe = Probe(File(arguments[0]), arguments[1].toLong() * 1000)
    for (line in generateSequence(::readLine)) probe.run(Json.fields(line))
}

private class Probe(folder: File, ahead: Long) {
    private val thread = CoreThread { print(mapOf("warning" to "a call failed: $it")) }
    private val core = Core(thread) {
        Environment(
            now = { System.currentTimeMillis() + ahead },
            random = Math::random,
            uuid = { UUID.randomUUID().toString() },
            storage = FileStorage { folder },
            network = HttpNetwork(thread, Executors.newCachedThreadPool()),
            timers = thread,
            warn = { print(mapOf("warning" to it)) },
        )
    }

    fun run(command: Fields) {
        val name = command.string("do")
        val done = { print(mapOf("done" to name, "purchaseToken" to command.string("purchaseToken"))) }
        val user = command.string("userId").orEmpty()
        when (name) {
            "configure" -> {
                core.configure(optionsOf(command))
                done()
            }

            "identify" -> core.identify(user, command.map("attributes"), done)

            "setAttributes" -> core.setAttributes(command.map("attributes"), done)

            "attributePurchase", "observe" -> core.attributePurchase(saleOf(command), name == "observe", done)

            "reset" -> core.reset(done)

            "flush" -> core.flush(done)

            "wake" -> {
                core.wake()
                done()
            }

            "debugState" -> core.snapshot { print(shown(it)) }

            else -> print(mapOf("warning" to "there is no call $name"))
        }
    }

    private fun optionsOf(command: Fields) = Options(
        url = command.string("url").orEmpty(),
        key = command.string("key"),
        bundleId = command.string("bundleId"),
        device = Device(ANDROID, "16", "Pixel 9", "en-US"),
        debug = { print(mapOf("debug" to it)) },
    )

    private fun saleOf(command: Fields) =
        Sale.of(command.string("purchaseToken").orEmpty(), command.string("productId"))

    private fun shown(state: Snapshot) = mapOf(
        "queue" to state.queue.size,
        "tokens" to state.queue.mapNotNull { it.purchase?.id },
        "refused" to state.refused.map { it.code },
        "appUserId" to state.appUserId,
        "anonymousId" to state.anonymousId,
        "lastAnswer" to state.lastAnswer,
        "isStored" to state.isStored,
    )

    private fun print(fields: Map<String, Any?>) = synchronized(this) {
        println(Json.text(fields.filterValues { it != null }))
        System.out.flush()
    }
}
