package dev.windfall.core

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.Executor

/**
 * Posts by HttpURLConnection, without a cache, and follows no redirects. `connections` runs what blocks. A request has no answer
 * after `limit` milliseconds.
 */
internal class HttpNetwork(
    private val thread: CoreThread,
    private val connections: Executor,
    private val limit: Long = ANSWER_MS,
) : Network {
    override fun post(request: Request, done: (Answer?) -> Unit) {
        val exchange = Exchange(request, limit.toInt())
        var isDone = false
        fun finish(answer: Answer?) {
            if (isDone) return
            isDone = true
            done(answer)
        }
        // The timeouts of a connection are for each read, so a slow answer could take longer.
        val cancel = thread.after(limit) {
            finish(null)
            connections.execute { exchange.abort() }
        }
        connections.execute {
            val answer = exchange.perform()
            thread.run {
                cancel()
                finish(answer)
            }
        }
    }
}

private class Exchange(private val request: Request, private val limit: Int) {
    @Volatile private var connection: HttpURLConnection? = null

    /** Null without an answer. */
    fun perform(): Answer? = safely { answer(open()) }

    fun abort() = safely { connection?.disconnect() }

    /**
     * Apps install their own TLS and proxies, which throw more than IOException, and the connections of old systems throw
     * AssertionError. On these threads either would end the app.
     */
    private inline fun <T> safely(work: () -> T): T? = try {
        work()
    } catch (_: Throwable) {
        null
    }

    private fun open(): HttpURLConnection {
        val connection = URL(request.url).openConnection() as? HttpURLConnection ?: throw IOException("not HTTP")
        this.connection = connection
        connection.requestMethod = "POST"
        connection.instanceFollowRedirects = false
        connection.useCaches = false
        connection.doOutput = true
        connection.connectTimeout = limit
        connection.readTimeout = limit
        for ((name, value) in request.headers) connection.setRequestProperty(name, value)
        connection.setRequestProperty("accept", "application/json")
        // The default names the device and its system.
        connection.setRequestProperty("user-agent", "windfall-android")
        return connection
    }

    private fun answer(connection: HttpURLConnection): Answer {
        connection.outputStream.use { it.write(request.body.toByteArray()) }
        val status = connection.responseCode
        val isFailure = status >= HttpURLConnection.HTTP_BAD_REQUEST
        val stream = if (isFailure) connection.errorStream else connection.inputStream
        val body = stream?.use { read(it) }.orEmpty()
        return Answer(status, body, connection.getHeaderField("retry-after"))
    }

    /** The text of an answer, without what is beyond any of ours. */
    private fun read(stream: InputStream): String {
        val out = ByteArrayOutputStream()
        val buffer = ByteArray(8192)
        while (out.size() < MOST_BYTES) {
            val read = stream.read(buffer)
            if (read < 0) break
            out.write(buffer, 0, read)
        }
        return out.toString("UTF-8")
    }

    private companion object {
        const val MOST_BYTES = 1_000_000
    }
}
