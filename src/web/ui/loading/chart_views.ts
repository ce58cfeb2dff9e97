/**
 * What views of charts share beyond `common.ts`, so that it is one file of code. Each of them imports this file, and so
 * does each dialog that uses a part of it.
 */
import '../charts/time_chart.tsx'
import '../cohorts/arppu.tsx'
import '../cohorts/cohort_card.tsx'
import '../cohorts/monthly_card.tsx'
import '../cohorts/recovery.tsx'
import '../metrics/headline.tsx'
import '../metrics/metric_card.tsx'
import '../metrics/tools.tsx'
