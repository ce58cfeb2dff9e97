/** The words for what makes figures null or incomplete, which load when a chart has such figures. */
import { latePart } from '../loading/late.tsx'

const WHAT = 'Why figures are incomplete'
export const ReasonTexts = latePart(WHAT, () =>
  import('./reason_words.tsx').then((words) => words.ReasonTexts),
)
export const ReasonNotes = latePart(WHAT, () =>
  import('./reason_words.tsx').then((words) => words.ReasonNotes),
)
