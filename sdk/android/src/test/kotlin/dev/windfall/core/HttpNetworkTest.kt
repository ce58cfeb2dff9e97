package dev.windfall.core

import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.ByteArrayOutputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import java.util.zip.GZIPOutputStream

/** The network with real sockets. */
internal class HttpNetworkTest {
    private val failures = CopyOnWriteArrayList<Throwable>()
    private val thread = CoreThread { failures += it }
    private val connections = Executors.newCachedThreadPool()
    private val open = ArrayList<RawServer>()

    @After
    fun close() {
        for (server in open) server.close()
        connections.shutdownNow()
        assertEquals(emptyList<Throwable>(), failures)
    }

    private fun serve(answer: RawServer.Connection.(RawServer.Received) -> Unit) = RawServer(answer).also { open += it }

    /** Posts, and checks that the answer comes once and on the thread of the core. */
    private fun post(url: String, limit: Long = 20_000, by: Executor = connections): Answer? {
        val answers = CopyOnWriteArrayList<Answer?>()
        val came = CountDownLatch(1)
        val headers = mapOf("content-type" to "application/json", "authorization" to "Bearer pk_1")
        thread.run {
            HttpNetwork(thread, by, limit).post(Request(url, headers, "{\"a\":\"zwölf\"}")) {
                answers += it
                assertEquals("windfall", Thread.currentThread().name)
                came.countDown()
            }
        }
        assertTrue("no answer came", came.await(20, SECONDS))
        val settled = CountDownLatch(1)
        thread.after(30) { settled.countDown() }
        assertTrue(settled.await(20, SECONDS))
        assertEquals(1, answers.size)
        return answers.single()
    }

    @Test
    fun `a request has the headers of the call, and none that describe the device`() {
        val server = serve { answer("200 OK", "{\"b\":\"ö\"}") }
        val answer = post("${server.url}/api/sdk/v1/identify")
        assertEquals(200, answer?.status)
        assertEquals("{\"b\":\"ö\"}", answer?.body)
        assertNull(answer?.retryAfter)
        val request = server.received.single()
        assertEquals("POST /api/sdk/v1/identify HTTP/1.1", request.start)
        assertEquals("{\"a\":\"zwölf\"}", request.body)
        val expected = mapOf(
            "content-type" to "application/json",
            "authorization" to "Bearer pk_1",
            "accept" to "application/json",
            "user-agent" to "windfall-android",
            "host" to "127.0.0.1:${server.port}",
            "connection" to "keep-alive",
            "content-length" to "14",
            "cache-control" to "no-cache",
            "pragma" to "no-cache",
        )
        assertEquals(expected, request.headers)
    }

    @Test
    fun `answers of each status come with their body`() {
        val statuses = listOf(200, 201, 299, 300, 304, 400, 401, 402, 403, 404, 407, 408, 409, 410, 413, 415, 422) +
            listOf(429, 499, 500, 502, 503, 599)
        for (status in statuses) {
            val body = if (status == 304) "" else "{\"code\":\"a\"}"
            val server = serve { answer("$status Text", body) }
            val answer = post(server.url)
            assertEquals(status, answer?.status)
            assertEquals(body, answer?.body)
            assertEquals(1, server.received.size)
        }
    }

    @Test
    fun `an answer that demands a password is the answer`() {
        for ((status, name) in mapOf(401 to "www-authenticate", 407 to "proxy-authenticate")) {
            val server = serve { answer("$status No", "{\"code\":\"invalid_key\"}", "$name: Basic realm=\"a\"") }
            val answer = post(server.url)
            assertEquals(status, answer?.status)
            assertEquals("{\"code\":\"invalid_key\"}", answer?.body)
            assertEquals(1, server.received.size)
        }
    }

    @Test
    fun `an answer without a body has an empty one`() {
        for (status in listOf("200 OK", "204 No Content", "404 Not Found", "503 Service Unavailable")) {
            val length = if ("204" in status) "" else "content-length: 0\r\n"
            val server = serve { write("HTTP/1.1 $status\r\n$length\r\n") }
            assertEquals(status, "", post(server.url)?.body)
        }
    }

    @Test
    fun `redirects are answers, and are not followed`() {
        for (status in listOf(301, 302, 303, 307, 308)) {
            val server = serve { answer("$status Elsewhere", "", "location: /hotel") }
            assertEquals(status, post("${server.url}/a")?.status)
            assertEquals(listOf("POST /a HTTP/1.1"), server.received.map { it.start })
        }
    }

    @Test
    fun `no cookie is kept`() {
        val server = serve { answer("200 OK", "{}", "set-cookie: a=b; path=/") }
        for (number in 1..2) assertEquals(200, post(server.url)?.status)
        assertEquals(listOf(null, null), server.received.map { it.headers["cookie"] })
    }

    @Test
    fun `an answer is not taken from a cache`() {
        val server = serve { answer("200 OK", "{}", "cache-control: max-age=1000") }
        for (number in 1..2) assertEquals(200, post(server.url)?.status)
        assertEquals(2, server.received.size)
    }

    @Test
    fun `retry-after is passed on`() {
        val server = serve { answer("429 Too Many Requests", "{\"code\":\"rate_limited\"}", "Retry-After: 17") }
        assertEquals("17", post(server.url)?.retryAfter)
    }

    @Test
    fun `an answer in chunks is put together`() {
        val server = serve {
            write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n")
            write("6\r\n\":\"b\"}\r\n0\r\n\r\n")
        }
        assertEquals("{\"a\":\"b\"}", post(server.url)?.body)
    }

    @Test
    fun `an answer without a length ends with the connection`() {
        val server = serve {
            write("HTTP/1.1 400 Bad Request\r\n\r\n{\"code\":\"a\"}")
            close()
        }
        assertEquals("{\"code\":\"a\"}", post(server.url)?.body)
    }

    @Test
    fun `an answer that nobody asked to compress is not JSON`() {
        val bytes = ByteArrayOutputStream().also { out -> GZIPOutputStream(out).use { it.write("{}".toByteArray()) } }
        val server = serve { answer("200 OK", bytes.toByteArray(), "content-encoding: gzip") }
        val answer = post(server.url)
        assertEquals(200, answer?.status)
        assertNull(Json.value(answer?.body.orEmpty()))
        // On Android the system asks for it, and decompresses the answer.
        assertNull(server.received.single().headers["accept-encoding"])
    }

    @Test
    fun `bytes that are no UTF-8 are no failure`() {
        val server = serve { answer("200 OK", byteArrayOf(-1, -2, 34, 0)) }
        assertEquals("\uFFFD\uFFFD\"\u0000", post(server.url)?.body)
    }

    @Test
    fun `of a huge answer only the beginning is read`() {
        val server = serve {
            write("HTTP/1.1 200 OK\r\n\r\n")
            while (true) write(ByteArray(1_000_000) { 'a'.code.toByte() })
        }
        val body = post(server.url)?.body.orEmpty()
        assertTrue("${body.length}", body.length in 1_000_000..1_010_000)
        assertTrue(server.received.isNotEmpty())
    }

    @Test
    fun `an answer that does not come is none, and the connection is closed`() {
        val server = serve { awaitEnd() }
        val start = System.nanoTime()
        assertNull(post(server.url, limit = 150))
        val milliseconds = (System.nanoTime() - start) / 1_000_000
        assertTrue("$milliseconds ms", milliseconds in 150..5000)
        assertTrue("the connection stays open", server.ended.await(20, SECONDS))
    }

    @Test
    fun `an answer that does not end is none, and the connection is closed`() {
        val huge = "HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n"
        for (head in listOf("", "HTTP/1.1 200 OK\r\n", huge, CHUNKS)) {
            val server = serve {
                write(head)
                writeEndlessly(if (head == CHUNKS) "1\r\na\r\n" else "a")
            }
            assertNull(head, post(server.url, limit = 150))
            assertTrue("the connection stays open after $head", server.ended.await(20, SECONDS))
        }
    }

    @Test
    fun `an answer at the limit comes once`() {
        val gates = LinkedBlockingQueue<Unit>()
        val server = serve {
            gates.take()
            answer("200 OK", "{}")
        }
        for (answeredAt in 20L..40) {
            thread.after(answeredAt) { gates += Unit }
            post(server.url, limit = 30)
        }
    }

    @Test
    fun `what is no HTTP is no answer`() {
        for (text in listOf("SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 abc\r\n\r\n", "\u0000\u0001\u0002\r\n\r\n", "")) {
            val server = serve {
                write(text)
                close()
            }
            val answer = post(server.url)
            assertTrue("$text: ${answer?.status}", answer == null || answer.status < 200)
        }
    }

    @Test
    fun `an answer that is cut is none, or no JSON`() {
        for (text in listOf("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"a", "$CHUNKS" + "9\r\n{\"a")) {
            val server = serve {
                write(text)
                close()
            }
            // The connections of Java take the end of a connection for the end of an answer. Those of Android do not.
            assertNull(text, Json.value(post(server.url)?.body.orEmpty()))
        }
    }

    @Test
    fun `a server that is not there is no answer`() {
        val port = ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }
        assertNull(post("http://127.0.0.1:$port"))
        assertNull(post("https://127.0.0.1:$port"))
        assertNull(post("http://name.invalid"))
    }

    @Test
    fun `addresses that lead nowhere are no failure`() {
        val urls =
            listOf("ftp://127.0.0.1/a", "file:///etc/hostname", "http://127.0.0.1:99999", "http://", "mailto:a", "")
        for (url in urls) assertNull(url, post(url))
    }

    @Test
    fun `TLS to a server without it is no answer`() {
        val server = serve { answer("200 OK", "{}") }
        assertNull(post("https://127.0.0.1:${server.port}", limit = 2000))
        assertTrue(server.received.isEmpty())
    }

    @Test
    fun `a thread that cannot be had is no answer, and nothing stands still`() {
        val none = Executor { throw OutOfMemoryError("a test: no thread") }
        assertNull(post("http://127.0.0.1:1", limit = 50, by = none))
        assertNotNull(post(serve { answer("200 OK", "{}") }.url))
        // That of the request and that which would have ended it.
        assertEquals(2, failures.count { it is OutOfMemoryError })
        failures.clear()
    }

    private companion object {
        const val CHUNKS = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    }
}
