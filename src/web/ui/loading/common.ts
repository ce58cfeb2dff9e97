/**
 * What most views use beyond the frame, so that it is part of the page's first file of code. Files that only some views
 * share become files of their own, each with a request.
 */
import '../../../apps/product_name.ts'
import '../frame/scope_bar.tsx'
import '../metrics/formula.tsx'
import '../metrics/metric_query.ts'
import '../metrics/origins.ts'
import '../metrics/require_figures.tsx'
import '../paged_queries.ts'
import '../parts/amount.tsx'
import '../parts/card.tsx'
import '../parts/relative_time.tsx'
import '../parts/scroll.tsx'
import '../parts/show_more.tsx'
import '../parts/table_head.tsx'
import '../parts/use_in_view.ts'
import '../sharing/share_button.tsx'
