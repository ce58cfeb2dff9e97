package dev.windfall.artifact

import kotlinx.validation.api.dump
import kotlinx.validation.api.filterOutNonPublic
import kotlinx.validation.api.loadApiFromJvmClasses
import java.io.File

private val CLASS = Regex("""^public .*(?:class|interface) (\S+)""")
private val METHOD = Regex("""^\tpublic .*fun (.*)""")

/** What Kotlin's validator says about the public classes of the SDK and their members. */
internal fun dumpOfApi(): String {
    val files = File("target/classes").walk().filter { it.extension == "class" }
    val api = files.map { it.inputStream() }.loadApiFromJvmClasses().filterOutNonPublic()
    return api.dump(StringBuilder()).toString()
}

/** The public methods, such as `dev/windfall/Windfall.flush()V`. A dump has a line for each class, then its members. */
internal fun publicMethods(): List<String> {
    var owner = ""
    return dumpOfApi().lines().mapNotNull { line ->
        CLASS.find(line)?.let { owner = it.groupValues[1] }
        METHOD.find(line)?.let { "$owner.${it.groupValues[1].replace(" ", "")}" }
    }
}
