/** Opens the annotations of the charts and their reading from Apple. */
import { openAnnotations } from './annotations.ts'
import { openAppleReading } from './apple_reading.ts'

/** Opens both modules. */
export const openChartNotes = (deps: Parameters<typeof openAppleReading>[0]) => ({
  annotations: openAnnotations(deps),
  appleReading: openAppleReading(deps),
})
