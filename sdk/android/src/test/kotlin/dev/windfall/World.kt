package dev.windfall

import android.app.Application
import android.os.Looper
import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import dev.windfall.core.Fields
import dev.windfall.core.Json
import org.junit.rules.ExternalResource
import org.robolectric.RuntimeEnvironment
import org.robolectric.shadow.api.Shadow
import org.robolectric.shadows.ShadowPausedLooper
import java.net.InetAddress
import java.net.InetSocketAddress
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS

/** A Windfall that accepts every call, on a port of its own. */
internal class Server : ExternalResource() {
    private val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
    private val received = LinkedBlockingQueue<Pair<String, Fields>>()

    /** Answers with that status and body instead of accepting. */
    @Volatile var refusal: Pair<Int, String>? = null
    val url = "http://127.0.0.1:${server.address.port}"

    override fun before() {
        server.createContext("/", ::answer)
        server.start()
    }

    override fun after() = server.stop(0)

    private fun answer(exchange: HttpExchange) {
        val body = Json.fields(exchange.requestBody.reader().readText())
        val kept = listOf("appUserId", "bundleId", "originalTransactionId").associateWith { body[it] }
        val (status, text) = refusal ?: (200 to Json.text(kept))
        exchange.sendResponseHeaders(status, text.toByteArray().size.toLong())
        exchange.responseBody.use { it.write(text.toByteArray()) }
        received += exchange.requestURI.path.substringAfterLast('/') to body
    }

    /** The next call, `identify` or `attribute`, with its body. */
    fun next(): Pair<String, Fields> = received.poll(20, SECONDS) ?: throw AssertionError("no request came")

    fun isQuiet(): Boolean = received.isEmpty()
}

internal val application: Application get() = RuntimeEnvironment.getApplication()

/** The state of the SDK, once everything before is done. */
internal fun Sdk.state(): DebugState {
    val state = CompletableFuture<DebugState>()
    debugState { state.complete(it) }
    return onMain { state.takeIf { it.isDone }?.get() }
}

/** Waits until everything that can be sent was sent. */
internal fun Sdk.sent() {
    val done = CountDownLatch(1)
    flush { done.countDown() }
    onMain { if (done.count == 0L) Unit else null }
}

/** Runs what is posted to the main thread, which is this one, until `read` has a value. */
private fun <T : Any> onMain(read: () -> T?): T {
    val looper = Shadow.extract<ShadowPausedLooper>(Looper.getMainLooper())
    val end = System.nanoTime() + SECONDS.toNanos(20)
    while (System.nanoTime() < end) {
        looper.poll(1000)
        looper.idle()
        read()?.let { return it }
    }
    throw AssertionError("nothing came on the main thread")
}
