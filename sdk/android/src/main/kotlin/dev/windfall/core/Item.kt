package dev.windfall.core

/** An item of the queue: a call with all that it needs to be sent. A changed item is another. */
internal data class Item(
    val call: Call,
    /** User, address, bundle id and key when it was queued. A key of the options replaces the key. */
    val user: String,
    val url: String,
    val bundleId: String,
    val key: String?,
    val at: Long,
    val device: Device? = null,
    val attributes: Attributes? = null,
    val purchase: Sale? = null,
) {
    enum class Call(val path: String) { IDENTIFY("identify"), ATTRIBUTE("attribute") }

    /** Items of one destination are sent in order. One that is refused does not hold up the others. */
    val lane get() = "$url $bundleId"

    /** This identify call and a later one of the same user, as one. */
    fun joined(later: Item): Item =
        later.copy(key = later.key ?: key, attributes = merged(attributes, later.attributes))

    fun toJson(): Map<String, Any?> = mapOf(
        "call" to call.path,
        "user" to user,
        "url" to url,
        "bundleId" to bundleId,
        "key" to key,
        "at" to at,
        "device" to device?.toJson(),
        "attributes" to attributes,
        "purchase" to purchase?.toJson(),
    ).filterValues { it != null }

    companion object {
        /** Null for what is not an item. */
        fun of(value: Any?): Item? {
            val fields = Fields(value)
            return Item(
                call = Call.values().firstOrNull { it.path == fields.string("call") } ?: return null,
                user = fields.string("user") ?: return null,
                url = fields.string("url") ?: return null,
                bundleId = fields.string("bundleId") ?: return null,
                key = fields.string("key"),
                at = fields.long("at") ?: return null,
                device = fields["device"]?.let { deviceOf(Fields(it)) },
                attributes = fields["attributes"]?.let { fields.map("attributes") },
                purchase = fields["purchase"]?.let { Sale.of(it) ?: return null },
            )
        }
    }
}

/** What the queue keeps of a purchase. */
internal data class Sale(
    /** The purchase token of Google Play. */
    val id: String,
    val productId: String?,
) {
    fun toJson(): Map<String, Any?> = mapOf("id" to id, "productId" to productId).filterValues { it != null }

    companion object {
        fun of(value: Any?): Sale? = Fields(value).let { Sale(it.string("id") ?: return null, it.string("productId")) }

        /** A purchase as an app reports it. A product that the server would refuse is left out. */
        fun of(token: String, productId: String?): Sale = Sale(token, productId?.takeIf { isText(it, 255) })
    }
}

internal fun Device.toJson(): Map<String, Any?> = mapOf(
    "platform" to platform,
    "osVersion" to osVersion,
    "deviceModel" to deviceModel,
    "locale" to locale,
).filterValues { it != null }

private fun deviceOf(fields: Fields) = Device(
    fields.string("platform"),
    fields.string("osVersion"),
    fields.string("deviceModel"),
    fields.string("locale"),
)

/** An item with its name in the storage, `q.<sequence>.<version>.<random>`. */
internal class Entry(val name: String, val item: Item, val bytes: Int) {
    /** What stays the same when an item changes. */
    val sequence get() = name.drop(2).take(12)
    val version get() = name.drop(15).take(4).toIntOrNull() ?: 0

    fun with(item: Item) = Entry(name, item, bytes)
}
