package dev.windfall.core

import java.net.MalformedURLException
import java.net.URL

/** Starts the SDK, or changes its options. */
internal fun Engine.configure(options: Options) {
    debug = options.debug ?: {}
    val next = targetOf(options) ?: return environment.warn("configure needs a url and a bundle id; nothing is sent.")
    target = next
    wake()
}

/** Null if the options lead nowhere. */
private fun targetOf(options: Options): Target? {
    val url = options.url.trim().trimEnd('/')
    val bundleId = options.bundleId ?: return null
    if (!isAddress(url) || !isText(bundleId, 255)) return null
    return Target(url, bundleId, options.key?.trim()?.ifEmpty { null }, options.device.cleaned())
}

/** `URI` knows no host with an underscore, which networks at home have. */
private fun isAddress(url: String): Boolean = try {
    URL(url).run { protocol in setOf("http", "https") && host.isNotEmpty() } && url.none { it.isWhitespace() }
} catch (_: MalformedURLException) {
    false
}

/** What the SDK knows, for a debug screen. `isStored`: the storage has everything, not memory only. */
internal class Snapshot(
    val isConfigured: Boolean,
    val appUserId: String?,
    val anonymousId: String?,
    val queue: List<Item>,
    val refused: List<State.Refused>,
    val isStored: Boolean,
    val lastAnswer: String?,
)

internal fun Engine.snapshot(): Snapshot {
    if (isLoaded) state.prune(now)
    return Snapshot(
        isConfigured = target != null,
        appUserId = if (isLoaded) state.current else null,
        anonymousId = if (isLoaded) state.anonymousId else null,
        queue = entries.map { it.item },
        refused = state.refused,
        isStored = store.isComplete && !hasWaitingCalls,
        lastAnswer = lastAnswer,
    )
}
