package dev.windfall.core

import java.io.File
import java.io.FileNotFoundException
import java.io.FileOutputStream
import java.io.IOException

/**
 * A folder with one file per text. The folder is made when it is missing, because an app may clear its files while it runs.
 * `find` may throw: before the first unlock of the device there is no folder.
 */
internal class FileStorage(find: () -> File) : Storage {
    private val folder by lazy(LazyThreadSafetyMode.NONE, find)
    private var isClean = false

    override fun read(name: String): String? {
        open()
        val file = file(name)
        return try {
            file.readText()
        } catch (error: FileNotFoundException) {
            if (file.exists()) throw error else null
        }
    }

    override fun write(name: String, text: String) {
        open()
        val next = File(folder, name + NEXT)
        try {
            FileOutputStream(next).use {
                it.write(text.toByteArray())
                // Without it a file may be empty after a loss of power, although it has its name.
                it.fd.sync()
            }
            // Takes the place of the file in one step, which a kill comes before or after.
            if (!next.renameTo(file(name))) throw IOException("cannot rename $next")
        } catch (error: IOException) {
            // On a full disk its remains would take the room of the next write.
            next.delete()
            throw error
        }
    }

    override fun remove(name: String) {
        open()
        val file = file(name)
        if (!file.delete() && file.exists()) throw IOException("cannot remove $file")
    }

    override fun names(): List<String> {
        open()
        return list().filter { it.endsWith(SUFFIX) }.map { it.removeSuffix(SUFFIX) }
    }

    /** Makes the folder, and once removes what a kill left of writes. */
    private fun open() {
        if (!folder.isDirectory && !folder.mkdirs()) throw IOException("cannot make $folder")
        if (isClean) return
        for (name in list()) if (name.endsWith(NEXT)) File(folder, name).delete()
        isClean = true
    }

    private fun list(): List<String> = folder.list()?.toList() ?: throw IOException("cannot read $folder")

    private fun file(name: String) = File(folder, name + SUFFIX)

    private companion object {
        const val SUFFIX = ".json"
        const val NEXT = ".next"
    }
}
