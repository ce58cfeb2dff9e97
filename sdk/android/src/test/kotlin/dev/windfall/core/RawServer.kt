package dev.windfall.core

import java.io.Closeable
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.net.SocketTimeoutException
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread

/** A server that reads requests from real sockets and answers with the bytes that a test writes. */
internal class RawServer(private val answer: Connection.(Received) -> Unit) : Closeable {
    /** A request as it came. Names of headers are in lower case. */
    class Received(val start: String, val headers: Map<String, String>, val body: String)

    class Connection(private val socket: Socket, private val server: RawServer) {
        private val out: OutputStream = socket.getOutputStream()

        fun write(bytes: ByteArray) {
            out.write(bytes)
            out.flush()
        }

        fun write(text: String) = write(text.toByteArray())

        /** Answers with the length of the body. */
        fun answer(status: String, body: ByteArray, vararg headers: String) {
            val lines = listOf("HTTP/1.1 $status", "content-length: ${body.size}") + headers + listOf("", "")
            write(lines.joinToString("\r\n").toByteArray() + body)
        }

        fun answer(status: String, body: String, vararg headers: String) = answer(status, body.toByteArray(), *headers)

        fun close() = socket.close()

        /** Waits until the other side closes the connection, or the server ends. */
        fun awaitEnd() {
            while (socket.getInputStream().read() >= 0) Unit
            server.ended.countDown()
        }

        /** Writes this text each time that the other side is silent for 20 ms, until it closes the connection. */
        fun writeEndlessly(text: String) {
            socket.soTimeout = 20
            while (isOpen()) write(text)
            server.ended.countDown()
        }

        private fun isOpen(): Boolean = try {
            socket.getInputStream().read() >= 0
        } catch (_: SocketTimeoutException) {
            true
        } catch (_: IOException) {
            false
        }
    }

    private val socket = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
    private val connections = CopyOnWriteArrayList<Socket>()
    val received = CopyOnWriteArrayList<Received>()

    /** The other side closed a connection. */
    val ended = CountDownLatch(1)
    val port = socket.localPort
    val url = "http://127.0.0.1:$port"

    init {
        thread(isDaemon = true) { accept() }
    }

    private fun accept() {
        try {
            while (true) {
                val one = socket.accept()
                connections += one
                thread(isDaemon = true) { serve(one) }
            }
        } catch (_: IOException) {
            // The server ended.
        }
    }

    private fun serve(one: Socket) = one.use {
        try {
            while (true) {
                val request = read(one.getInputStream()) ?: break
                received += request
                Connection(one, this).answer(request)
            }
        } catch (_: IOException) {
            // The other side closed the connection.
        }
    }

    private fun read(input: InputStream): Received? {
        val head = StringBuilder()
        while (!head.endsWith("\r\n\r\n")) head.append(input.read().takeIf { it >= 0 }?.toChar() ?: return null)
        val lines = head.trim().split("\r\n")
        val headers = lines.drop(1).associate { it.substringBefore(':').lowercase() to it.substringAfter(':').trim() }
        val body = ByteArray(headers["content-length"]?.toInt() ?: 0)
        var length = 0
        while (length < body.size) length += input.read(body, length, body.size - length)
        return Received(lines[0], headers, String(body))
    }

    override fun close() {
        socket.close()
        for (one in connections) one.close()
    }
}
