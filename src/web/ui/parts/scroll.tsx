/** What may be wider or higher than its place: scrolls by itself, and is reached by the keyboard. */
import type { ComponentChildren, JSX } from 'preact'

type ScrollProps = { label: string; class?: string; children: ComponentChildren }

export const Scroll = ({ label, class: className, children }: ScrollProps): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <section class={className ? `table-wrap ${className}` : 'table-wrap'} tabIndex={0} aria-label={label}>
    {children}
  </section>
)
