/** Cards, figures and their changes. */
import type { ComponentChildren, JSX } from 'preact'
import { change, points } from '../words.ts'
import { Tip } from './popover.tsx'

type CardProps = {
  title: ComponentChildren
  /** The title as plain text. */
  plainTitle?: string
  /** The definition of the title. */
  about?: ComponentChildren
  tools?: ComponentChildren
  foot?: ComponentChildren
  class?: string
  /** Receives the card’s element. */
  cardRef?: (element: Element | null) => void
  children: ComponentChildren
}

export const Card = ({
  title,
  plainTitle = typeof title === 'string' ? title : 'this',
  about,
  tools,
  foot,
  class: className = '',
  cardRef,
  children,
}: CardProps): JSX.Element => (
  <section class={`card ${className}`} {...(cardRef && { ref: cardRef })}>
    <header class="card-head">
      <h2>
        {title}
        {about && <Tip title={plainTitle}>{about}</Tip>}
      </h2>
      {tools && <div class="card-tools">{tools}</div>}
    </header>
    <div class="card-body">{children}</div>
    {foot && <footer class="card-foot">{foot}</footer>}
  </section>
)

/**
 * The change from a previous value in percent, or in percentage points if the values are percentages (`isPercentage`).
 * `isHigherBetter` is false if lower is better, as for churn. `format` shows the difference itself instead.
 */
export function Delta({
  now,
  before,
  isHigherBetter = true,
  isPercentage = false,
  format = null,
  against,
}: {
  now: number
  before: number
  isHigherBetter?: boolean
  isPercentage?: boolean
  format?: ((difference: number) => string) | null
  against: string
}): JSX.Element | null {
  if (before === 0 && !isPercentage && format === null) return null
  const difference = now - before
  const tone = difference === 0 ? 'quiet' : difference > 0 === isHigherBetter ? 'good' : 'bad'
  return (
    <span class={`delta ${tone}`} title={against}>
      {format?.(difference) ?? (isPercentage ? points(difference) : change(difference / Math.abs(before)))}
      <span class="spoken"> {against}</span>
    </span>
  )
}

type StatProps = {
  label: string
  about?: ComponentChildren
  children: ComponentChildren
  under?: ComponentChildren
}
/** A figure with its label. */
export const Stat = ({ label, about, children, under }: StatProps): JSX.Element => (
  <div class="stat">
    <span class="label">
      {label}
      {about && <Tip title={label}>{about}</Tip>}
    </span>
    <span class="figure">{children}</span>
    {under && <span class="small quiet">{under}</span>}
  </div>
)
