/**
 * What views of events share beyond `common.ts`, so that it is one file of code. Each of them imports this file, and so
 * does each dialog that uses a part of it.
 */
import '../events/event_detail.ts'
import '../events/live_feed.ts'
import '../events/mrr_effect.tsx'
import '../events/row.tsx'
import '../events/rows.tsx'
