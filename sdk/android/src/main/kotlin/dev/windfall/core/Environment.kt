package dev.windfall.core

/** What the core takes from its runtime. Tests pass their own. */
internal class Environment(
    /** The wall clock, in milliseconds since 1970. */
    val now: () -> Long,
    /** A number from 0 to 1, for waits. */
    val random: () -> Double,
    /** A UUIDv4 in lower case. */
    val uuid: () -> String,
    /** The queue and the state. */
    val storage: Storage,
    val network: Network,
    val timers: Timers,
    /** Takes warnings, which are for the developer of the app. */
    val warn: (String) -> Unit,
)

/** Texts by name. An operation that throws had no effect, or had it late. */
internal interface Storage {
    /** Null if there is none. */
    fun read(name: String): String?

    /** Takes all of the text or nothing, also when the process is killed. */
    fun write(name: String, text: String)

    /** Succeeds if there is none. */
    fun remove(name: String)

    fun names(): List<String>
}

/** A request. All requests are posts. Names of headers are in lower case. */
internal class Request(val url: String, val headers: Map<String, String>, val body: String)

internal class Answer(val status: Int, val body: String, val retryAfter: String? = null)

internal interface Network {
    /**
     * Calls `done` later, once, on the thread of the core: with null without an answer, also after a timeout. Follows no
     * redirects.
     */
    fun post(request: Request, done: (Answer?) -> Unit)
}

internal interface Timers {
    /** Calls `run` later, on the thread of the core. Returns a function that cancels it. */
    fun after(milliseconds: Long, run: () -> Unit): () -> Unit
}

/** What describes the device in identify calls. Fields that are not known are null. */
internal data class Device(
    val platform: String? = null,
    val osVersion: String? = null,
    val deviceModel: String? = null,
    val locale: String? = null,
) {
    /** Without the fields that the server would refuse. */
    fun cleaned(): Device = Device(clean(platform), clean(osVersion), clean(deviceModel), clean(locale))

    private fun clean(text: String?) = text?.takeIf { isText(it, MOST_CHARACTERS) }

    private companion object {
        const val MOST_CHARACTERS = 64
    }
}

/** Where calls go and what they say about the device. */
internal class Options(
    val url: String,
    /** A publishable key. Without one, calls carry no credential of the app. */
    val key: String?,
    val bundleId: String?,
    val device: Device,
    /** Takes lines about what the SDK does. */
    val debug: ((String) -> Unit)?,
)
