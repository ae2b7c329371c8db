@file:JvmName("Feeds")

package org.example.feed

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow

/** The maximum number of items on a page. */
const val PAGE_MAX = 50

typealias Listener<T> = (T) -> Unit

/**
 * Loads the items of a feed, page by page.
 *
 * @param source the source of pages
 */
@Stable
class Feed<T : Item>(
    private val source: Source<T>,
    val name: String = "feed",
) : Closeable, Iterable<T> {
    private val pages = mutableListOf<Page<T>>()
    private val state = MutableStateFlow(
        FeedState.Loading(attempt = 0, previous = null, message = "The feed has not been opened."),
    )

    /** The number of loaded items. */
    val size: Int
        get() = pages.sumOf { it.items.size }

    var limit: Int = PAGE_MAX
        private set(value) {
            require(value > 0) { "limit must be positive, not $value" }
            field = value
        }

    val parser by lazy {
        Parser(source.format)
    }

    lateinit var listener: Listener<T>

    init {
        register(this)
    }

    constructor(items: List<T>) : this(ListSource(items)) {
        limit = items.size
    }

    /**
     * Loads the next page.
     */
    @Throws(IOException::class)
    suspend fun <R> next(cursor: Cursor?, map: (T) -> R): List<R> {
        val page = source.load(cursor ?: Cursor.START, limit)
        pages += page
        return page.items.map(map)
    }

    override fun iterator(): Iterator<T> = pages.asSequence().flatMap { it.items }.iterator()

    /** Not part of the interface. */
    private fun trim() {
        while (pages.size > 10) pages.removeAt(0)
    }

    override fun close() {
        source.close()
    }

    companion object {
        const val VERSION = 2

        fun <T : Item> of(vararg items: T): Feed<T> {
            return Feed(items.asList())
        }
    }
}

/** The state of a feed. */
sealed interface FeedState {
    data class Loading(val attempt: Int, val previous: FeedState?, val message: String) : FeedState

    object Ready : FeedState
}

enum class Order(val key: String) {
    /** The newest item comes first. */
    NEWEST("date"),
    POPULAR("score") {
        override fun isStable() = false
    };

    open fun isStable(): Boolean = true
}

fun interface Source<T> {
    fun load(cursor: Cursor, limit: Int): Page<T>
}

object Registry {
    private val feeds = HashMap<String, Feed<*>>()

    operator fun get(name: String): Feed<*>? = feeds[name]
}

/** Returns the items that match a text. */
fun <T : Item> Feed<T>.search(text: String, ignoreCase: Boolean = true): List<T> {
    val query = """
        select * from items where text like '%$text%'
    """.trimIndent()
    return filter { query in it.text }
}

internal val Feed<*>.isEmpty: Boolean
    get() = size == 0
